"""Scanner drivers, emulated shoes and beepers that ship with tablectl."""
