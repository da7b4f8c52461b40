"""Emulated shoes: the physical shoe as a model, speaking its protocol on a real port.

* :mod:`shoe`    the cards in the box, and an Angel Eye's own idea of the hand (pure)
* :mod:`faults`  what can go wrong on the way, by name and seed (pure)
* :mod:`port`    the wire: a pseudo-terminal or a TCP port, and the thread that keeps the pace
* :mod:`wired`   what every emulated shoe shares
* :mod:`angel_eye`, :mod:`bee_tek`   the two shoes
* :mod:`scanner`  what emulated readers of codes share; :mod:`barcode`, :mod:`rfid`, :mod:`zebra_ssi`
"""
