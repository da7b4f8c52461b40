"""German: what the console says itself, by its English text. The terms are those of the table display."""

from __future__ import annotations

from collections.abc import Mapping

SCREEN = {
    "Waiting for the daemon of the table.": "Warten auf den Dienst des Tisches.",
    "leave": "verlassen",
    "TEST TABLE": "TESTTISCH",
    "FREE HAND": "FREISPIEL",
    "round {where}": "Runde {where}",
    "shoe {n}": "Schuh {n}",
    "dealer {name}, picks up {side}": "Croupier {name}, nimmt von {side} auf",
    "no dealer": "kein Croupier",
    "left": "links",
    "right": "rechts",
    "player": "Spieler",
    "banker": "Bank",
    "tie": "Unentschieden",
    "Player": "Spieler",
    "Banker": "Bank",
    "Tie": "Unentschieden",
    "VOID": "UNGÜLTIG",
    "AMENDED": "BERICHTIGT",
    "free hand": "Freispiel",
    "natural": "Natural",
    "pair": "Paar",
    "player natural": "Natural Spieler",
    "banker natural": "Natural Bank",
    "player pair": "Paar Spieler",
    "banker pair": "Paar Bank",
    "{where} is over ": "{where} ist vorbei ",
    "closed": "geschlossen",
    "no shoe": "kein Schuh",
    "burning": "brennen",
    "burn {n}": "brennen {n}",
    "idle": "bereit",
    "betting": "Einsätze",
    "no more bets": "nichts geht mehr",
    "dealing": "geben",
    "complete": "Ergebnis",
    "shuffle due": "mischen",
    "on hold": "angehalten",
    "STALE": "VERALTET",
    "STALE: this is how it was. Nothing is sent. Trying again.": (
        "VERALTET: so war es. Nichts wird gesendet. Neuer Versuch läuft."
    ),
    "say": "ansagen",
    "ok": "ok",
}
"""Whose table, the phase, the hands."""

PROMPTS = {
    "NEXT: ": "JETZT: ",
    "HOLD: {why}": "HALT: {why}",
    "NEXT: scan the card again, it could not be read": (
        "JETZT: Karte noch einmal einlesen, sie war nicht lesbar"
    ),
    "COUNT of the cards: {how_far}": "ZÄHLUNG der Karten: {how_far}",
    "{n} of {all}, {extra} extra": "{n} von {all}, {extra} zu viel",
    "SCAN AGAIN: {how_far}": "NEU EINLESEN: {how_far}",
    "{what}: {n} scanned so far": "{what}: bisher {n} eingelesen",
    "hand": "Hand",
    "last": "letzte",
    "NEXT: open the table": "JETZT: Tisch öffnen",
    "NEXT: a dealer signs in": "JETZT: ein Croupier meldet sich an",
    "NEXT: shuffle, cut and load, then start the new shoe": (
        "JETZT: mischen, schneiden, einlegen, dann neuen Schuh beginnen"
    ),
    "NEXT: shuffle and load, then start the new shoe": (
        "JETZT: mischen und einlegen, dann neuen Schuh beginnen"
    ),
    "NEXT: burn {n} face down{why}": "JETZT: {n} verdeckt brennen{why}",
    "NEXT: open betting": "JETZT: Einsätze öffnen",
    "NEXT: open betting. The coming hand is the LAST": (
        "JETZT: Einsätze öffnen. Das kommende Spiel ist das LETZTE"
    ),
    "BETS ARE OPEN: draw no card": "EINSÄTZE LAUFEN: keine Karte ziehen",
    "{n} of {all} players have placed": "{n} von {all} haben gesetzt",
    "{n} of 1 player has placed": "{n} von 1 hat gesetzt",
    "ALL HAVE PLACED": "ALLE HABEN GESETZT",
    ": betting may be closed early, key {key}": ": Einsätze dürfen früher enden, Taste {key}",
    "NO MORE BETS. NEXT: Player's first card": "NICHTS GEHT MEHR. JETZT: erste Karte des Spielers",
    "NEXT: turn the four cards, then press Enter": "JETZT: die vier Karten aufdecken, dann Enter",
    "NEXT: deal, face down: {n} of 4": "JETZT: verdeckt geben: {n} von 4",
    "{wins}, Player {p}, Banker {b}: {how}": "{wins}, Spieler {p}, Bank {b}: {how}",
    "PLAYER WINS": "SPIELER GEWINNT",
    "BANKER WINS": "BANK GEWINNT",
    "TIE": "UNENTSCHIEDEN",
    "EGALITÉ, TIE": "ÉGALITÉ, UNENTSCHIEDEN",
    "announce it": "ansagen",
    "press the shoe's result button": "Ergebnistaste des Schuhs drücken",
    "the shoe is out of step: announce it here": "der Schuh ist aus dem Takt: hier ansagen",
}
"""What the dealer does next."""

BELOW = {
    "no shoe in play": "kein Schuh im Spiel",
    "{n} of {all} left": "noch {n} von {all}",
    "LAST HAND BEFORE SHUFFLE": "LETZTES SPIEL VOR DEM MISCHEN",
    "The last hand before the shuffle is round {where}": "Das letzte Spiel vor dem Mischen ist Runde {where}",
    "burns due: {n} ({why})": "zu brennen: {n} ({why})",
    "shuffle": "Mischen",
    "dealer change": "Croupierwechsel",
    "game error": "Spielfehler",
    "CUTTING CARD OUT": "SCHNITTKARTE GEZOGEN",
    "cutting card in": "Schnittkarte steckt",
    "cutting card": "Schnittkarte",
    "end of the shoe": "Ende des Schuhs",
    "{what} in about {n}": "{what} in etwa {n}",
    "{what} due now": "{what} jetzt fällig",
    "ALERT": "ALARM",
    "... {n} alerts in all: key /": "... {n} Alarme in allem: Taste /",
    "UNSETTLED at the game server: {rounds}. Void or amend.": (
        "OFFEN beim Spielserver: {rounds}. Ungültig oder berichtigen."
    ),
    "{n} kept for the next round": "{n} für die nächste Runde zurückgelegt",
    "cards kept with the hold: {names}": "Karten beim Halt zurückgelegt: {names}",
    "{code}, saw: {what}": "{code}, gesehen: {what}",
    "bytes {hex}": "Bytes {hex}",
    "scanner": "Leser",
    "server": "Server",
    "journal": "Journal",
    "mirror": "Spiegel",
    "beeper": "Signalton",
    "DOWN": "AUS",
    "absent": "fehlt",
    "faulty": "gestört",
    "mute": "stumm",
    "swapped": "getauscht",
    "not ready": "nicht bereit",
    "none": "keiner",
    "{n} to send": "{n} zu senden",
    "has everything": "hat alles",
}
"""Shoe, alerts and devices."""

KEYS = {
    "open the table": "Tisch öffnen",
    "new shoe": "neuer Schuh",
    "OPEN BETTING": "EINSÄTZE ÖFFNEN",
    "cards are turned": "Karten liegen offen",
    "announce {outcome}": "ansagen: {outcome}",
    "close betting early": "Einsätze früher schließen",
    "scan again": "neu einlesen",
    "two equal cards": "zwei gleiche Karten",
    "change of dealer": "Croupierwechsel",
    "dealer signs in": "Croupier meldet sich an",
    "dealer leaves": "Croupier geht",
    "burned unseen": "ungelesen gebrannt",
    "close the table": "Tisch schließen",
    "more ways out ...": "weitere Auswege ...",
    "HOLD": "HALT",
    "alert seen": "Alarm gesehen",
    "pit boss": "Pitboss",
    "more": "mehr",
    "Pit boss": "Pitboss",
    "Dealer": "Croupier",
    "leave the console": "Konsole verlassen",
}
"""Beside the keys."""

QUESTIONS = {
    "Leave the console? The table goes on without it.": "Konsole verlassen? Der Tisch läuft ohne sie weiter.",
    "Is the new shoe shuffled, cut and loaded? Then it is started.": (
        "Ist der neue Schuh gemischt, geschnitten und eingelegt? Dann beginnt er."
    ),
    "start the new shoe": "neuen Schuh beginnen",
    "Close betting now, before its time?": "Einsätze jetzt schließen, vor der Zeit?",
    "Has the cutting card come out?": "Ist die Schnittkarte herausgekommen?",
    "the cutting card is out": "die Schnittkarte ist draußen",
    "Were two equal cards drawn? The second is counted.": (
        "Wurden zwei gleiche Karten gezogen? Die zweite wird gezählt."
    ),
    "count the second card": "zweite Karte zählen",
    "Does {name} leave the table?": "Verlässt {name} den Tisch?",
    "sign out": "abmelden",
    "Close the table?": "Tisch schließen?",
    "Who deals?": "Wer gibt?",
    "from the left": "von links",
    "from the right": "von rechts",
    "{name} picks the cards up": "{name} nimmt die Karten auf",
    "Put the table on hold? Only a pit boss releases it.": "Tisch anhalten? Nur ein Pitboss gibt ihn frei.",
    "hold the table": "Tisch anhalten",
    "a card was drawn and not read": "eine Karte wurde gezogen und nicht gelesen",
    "one card was read twice": "eine Karte wurde zweimal gelesen",
    "two cards were drawn at once": "zwei Karten wurden zugleich gezogen",
    "hold, and write why ...": "anhalten und schreiben, warum ...",
    "Why is the table put on hold?": "Warum wird der Tisch angehalten?",
    "Which alert was seen?": "Welcher Alarm wurde gesehen?",
    "Nothing to acknowledge": "Nichts zu bestätigen",
    "{alert} goes by itself when it is over": "{alert} geht von selbst, wenn es vorbei ist",
    "What is scanned again?": "Was wird neu eingelesen?",
    "the last card": "die letzte Karte",
    "the whole hand, in the order drawn": "die ganze Hand, in der gezogenen Reihenfolge",
    "1 is due.": "1 ist fällig.",
    "{n} are due.": "{n} sind fällig.",
    "How many were burned that the scanner did not see?": "Wie viele wurden gebrannt, ohne gelesen zu sein?",
    "more ...": "weitere ...",
    "a number chooses": "eine Zahl wählt",
    "Enter takes it, {key} rubs out": "Enter übernimmt, {key} löscht",
    "Backspace": "Rücktaste",
    "rank, then suit": "Wert, dann Farbe",
    "Enter on nothing or Esc goes back": "Enter ohne Eingabe oder Esc: zurück",
    ". goes back": ". geht zurück",
    "(typed, not shown)": "(eingegeben, nicht gezeigt)",
    "{rank} of ...": "{rank} in ...",
    "spades S": "Pik S",
    "hearts H": "Herz H",
    "diamonds D": "Karo D",
    "clubs C": "Kreuz C",
    "Ace": "Ass",
    "Jack": "Bube",
    "Queen": "Dame",
    "King": "König",
    "or the letters A T J Q K": "oder die Buchstaben A T J Q K",
    "{title} Name or staff number:": "{title} Name oder Personalnummer:",
    "another name ...": "anderer Name ...",
    "{title} ({low} to {high})": "{title} ({low} bis {high})",
    "a number from {low} to {high}": "eine Zahl von {low} bis {high}",
    "{title} SHOE/ROUND:": "{title} SCHUH/RUNDE:",
    "a round is written SHOE/ROUND: 12/34": "eine Runde schreibt sich SCHUH/RUNDE: 12/34",
    "another round ...": "andere Runde ...",
    "card kept, number {n}": "zurückgelegte Karte, Nummer {n}",
    "no card": "keine Karte",
    "1 to 32 of A-Z a-z 0-9 . _ -, a letter or digit first": (
        "1 bis 32 aus A-Z a-z 0-9 . _ -, vorn Buchstabe oder Ziffer"
    ),
    "printable characters are needed": "druckbare Zeichen sind nötig",
}
"""What the dealer is asked."""

ANSWERS = {
    "not connected yet": "noch keine Verbindung",
    "no answer for {n} s; {why}": "keine Antwort seit {n} s; {why}",
    "no word for {n} s": "kein Lebenszeichen seit {n} s",
    "this is table {this}, not {that}": "dies ist Tisch {this}, nicht {that}",
    "The daemon is back, after {n} s. Compare the screen with the table.": (
        "Der Dienst ist zurück, nach {n} s. Bildschirm und Tisch vergleichen."
    ),
    "This key does nothing here. On a number pad: switch NumLock on.": (
        "Diese Taste tut hier nichts. Auf dem Ziffernblock: NumLock einschalten."
    ),
    "[{key}] has just changed to: {what}. Look, then press again.": (
        "[{key}] heißt seit eben: {what}. Ansehen, dann noch einmal drücken."
    ),
    "[{key}] is held down or came twice. Let go, look, press again.": (
        "[{key}] klemmt oder kam doppelt. Loslassen, ansehen, noch einmal drücken."
    ),
    "Nobody presses keys so fast. Look, then press [{key}] again.": (
        "So schnell drückt niemand. Ansehen, dann [{key}] noch einmal drücken."
    ),
    "{what}: nobody answered, nothing was sent.": "{what}: keine Antwort, nichts wurde gesendet.",
    "sending: {command} ...": "sende: {command} ...",
    "NOT SENT: {command}; {why}": "NICHT GESENDET: {command}; {why}",
    "NOT SENT: {command}; wait for {other}": "NICHT GESENDET: {command}; erst {other} abwarten",
    "Whether '{command}' was carried out is not known: look at the table before it is given again. {why}": (
        "Ob '{command}' ausgeführt wurde, ist unbekannt: den Tisch ansehen, ehe es neu gegeben wird. {why}"
    ),
    "refused: {why}": "abgelehnt: {why}",
    "{command} refused: {why}": "{command} abgelehnt: {why}",
    "done": "getan",
    "; try again in {n} s": "; wieder in {n} s",
    "The table has changed since you began: this will be refused. Go back and look.": (
        "Der Tisch hat sich seither geändert: das wird abgelehnt. Zurück und ansehen."
    ),
    "The table has changed since you began: this list is old. Go back and look.": (
        "Der Tisch hat sich seither geändert: diese Liste ist alt. Zurück und ansehen."
    ),
}
"""What became of it."""

OWN: Mapping[str, str] = {**SCREEN, **PROMPTS, **BELOW, **KEYS, **QUESTIONS, **ANSWERS}
