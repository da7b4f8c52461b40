"""German: what the daemon answers to a command, part by part. ``{}`` stands for what it puts in.

The names of commands stay: they are what is typed and what the log says.
"""

from __future__ import annotations

from collections.abc import Mapping

DONE: Mapping[str, str] = {
    "on hold": "angehalten",
    "table open, rules {}": "Tisch offen, Regeln {}",
    "table closed": "Tisch geschlossen",
    "{} deals": "{} gibt",
    "{} is signed out": "{} ist abgemeldet",
    "betting open, round {}, {} s": "Einsätze offen, Runde {}, {} s",
    "betting closed, round {}": "Einsätze geschlossen, Runde {}",
    "round {}: {}": "Runde {}: {}",
    "on hold: announced {}, the cards say {}": "angehalten: angesagt {}, die Karten sagen {}",
    "{} acknowledged": "{} bestätigt",
    "burn {}": "brennen: {}",
    "burn the first card and its value": "die erste Karte brennen und so viele, wie sie zählt",
    "{} burned": "{} gebrannt",
    "{} burned, {} still due": "{} gebrannt, {} noch fällig",
    "counted as a second card": "als zweite Karte gezählt",
    "{} corrected": "{} berichtigt",
    "inserted at {}": "eingefügt auf {}",
    "{} moved to {}": "{} nach {} gerückt",
    "{} entered": "{} eingegeben",
    "{} is named": "{} ist benannt",
    "next: {}": "weiter: {}",
    "it was {} before and is counted once": "sie war vorher {} und zählt einmal",
    "a card was {} before and is counted once": "eine Karte war vorher {} und zählt einmal",
    "cards are kept, they need their place first": "Karten liegen zurück, sie brauchen erst ihren Platz",
    "when the screen is right, a pit boss releases the table: release {}": (
        "wenn der Schirm stimmt, gibt ein Pitboss den Tisch frei: release {}"
    ),
    "scan all cards of this round again, in the order they were drawn": (
        "alle Karten dieser Runde neu einlesen, wie sie gezogen wurden"
    ),
    "scan the card at {} again": "die Karte auf {} neu einlesen",
    "then a pit boss: release rescanned": "danach ein Pitboss: release rescanned",
    "released: {}": "freigegeben: {}",
    "still to be burned: {}": "noch zu brennen: {}",
    "still on hold: {}": "noch angehalten: {}",
    "round {} void": "Runde {} ungültig",
    "round {} amended: {}, was {}": "Runde {} berichtigt: {}, war {}",
    "free hand, round {}": "Freispiel, Runde {}",
    "another device is expected with the same cards": "ein anderes Gerät mit denselben Karten wird erwartet",
    "when it is there, compare the cards, then: release cards-confirmed": (
        "wenn es da ist, die Karten vergleichen, dann: release cards-confirmed"
    ),
    "shoe {}": "Schuh {}",
    "shoe {} ended": "Schuh {} ist beendet",
    "shoe {} withdrawn": "Schuh {} zurückgenommen",
    "its number is used up": "seine Nummer ist verbraucht",
    "shoe {} goes on: {} cards out, {} rounds": "Schuh {} geht weiter: {} Karten gezogen, {} Runden",
    "shoe {} goes on: {} cards out, {} rounds, the next hand is the last": (
        "Schuh {} geht weiter: {} Karten gezogen, {} Runden, die nächste Hand ist die letzte"
    ),
    "the cutting card is withdrawn": "die Schnittkarte ist zurückgenommen",
    "there is no last hand yet": "noch gibt es keine letzte Hand",
    "cutting card noted": "Schnittkarte vermerkt",
    "the last hand is round {}": "die letzte Hand ist Runde {}",
    "the cutting card is noted already": "die Schnittkarte ist schon vermerkt",
    "counting: pass all {} cards through the scanner, then: shoe inspect --done": (
        "Zählung: alle {} Karten durch den Leser, dann: shoe inspect --done"
    ),
    "inspection recorded, attested by {} and {}": "Prüfung eingetragen, bezeugt von {} und {}",
    "the count is given up": "die Zählung ist aufgegeben",
    "nothing is attested": "nichts ist bezeugt",
    "take the extra and foreign cards out": "die überzähligen und fremden Karten heraus",
    "the set is not complete ({}): replace, then: shoe inspect --by-hand --replaced …": (
        "der Satz ist nicht vollständig ({}): ersetzen, dann: shoe inspect --by-hand --replaced …"
    ),
}
"""What is carried out."""

REFUSED: Mapping[str, str] = {
    "phase {}: the table is closed": "{}: der Tisch ist zu",
    "phase {}: no shoe is in play": "{}: kein Schuh ist im Spiel",
    "phase {}: burn cards are due": "{}: Brennkarten sind fällig",
    "phase {}: no round is in play and none of this is due": "{}: keine Runde läuft, nichts davon ist fällig",
    "phase {}: betting is open": "{}: Einsätze sind offen",
    "phase {}: betting is closed and the hand is to be dealt": (
        "{}: Einsätze sind zu, die Hand ist zu geben"
    ),
    "phase {}: a hand is being dealt": "{}: eine Hand wird gegeben",
    "phase {}: the hand is complete and its result is not out": (
        "{}: die Hand ist vollständig, ihr Ergebnis noch nicht heraus"
    ),
    "phase {}: the shoe has ended": "{}: der Schuh ist zu Ende",
    "first: open": "erst: open",
    "first: sign-in, shoe new": "erst: sign-in, shoe new",
    "burn them first": "die zuerst brennen",
    "next: bets open": "weiter: bets open",
    "wait for its end, or: bets close": "das Ende abwarten, oder: bets close",
    "deal it": "geben",
    "finish it": "fertig geben",
    "next: confirm": "weiter: confirm",
    "next: shoe new": "weiter: shoe new",
    "the table is on hold. {}": "der Tisch ist angehalten. {}",
    "the table is not on hold": "der Tisch ist nicht angehalten",
    "first: hold": "erst: hold",
    "the scanner told of no card read twice since the last card": (
        "der Leser hat seit der letzten Karte keine zweimal gelesene gemeldet"
    ),
    "an extra card: hold": "eine Karte zu viel: hold",
    "that would be copy {} of {} in a shoe of {} decks": (
        "das wäre Exemplar {} von {} in einem Schuh aus {} Spielen"
    ),
    "look at the cards again, an earlier one may have been read wrong": (
        "die Karten ansehen, eine frühere kann falsch gelesen sein"
    ),
    "that would be card {} from a shoe of {} cards": "das wäre Karte {} aus einem Schuh mit {} Karten",
    "there is no kept card {}": "es liegt keine Karte {} zurück",
    "kept are: {}": "zurück liegen: {}",
    "{}: no hand lies on the table": "{}: keine Hand liegt auf dem Tisch",
    "kept cards are: {}": "zurück liegen: {}",
    "no card lies at {}": "auf {} liegt keine Karte",
    "cards lie at: {}": "Karten liegen auf: {}",
    "{} is that card already": "{} ist diese Karte schon",
    "{} is there already": "{} liegt schon dort",
    "a card of the hand leaves it only by the rule: insert or correct what is wrong, or void": (
        "eine Karte verlässt die Hand nur nach der Regel: insert oder correct, was falsch ist, oder void"
    ),
    "dealer and pit boss enter a card together": "Croupier und Pitboss geben eine Karte gemeinsam ein",
    "first: sign-in NAME": "erst: sign-in NAME",
    "no card can be entered now: cards are kept that came before it, or none is due": (
        "jetzt kann keine eingegeben werden: frühere liegen zurück, oder es ist keine fällig"
    ),
    "{} is due, not {}": "fällig ist {}, nicht {}",
    "nobody is signed in": "niemand ist angemeldet",
    "no dealer is signed in": "kein Croupier ist angemeldet",
    "cards are being scanned again already": "es werden schon Karten neu eingelesen",
    "a pit boss ends it: release rescanned, or keep": "ein Pitboss beendet es: release rescanned oder keep",
    "the scanner is not there ({})": "der Leser ist nicht da ({})",
    "a pit boss can: correct, enter": "ein Pitboss kann: correct, enter",
    "a card drawn now would be lost": "eine jetzt gezogene Karte ginge verloren",
    "count: shoe inspect --by-hand": "zählen: shoe inspect --by-hand",
    "the last two cards read are not the same": "die letzten zwei gelesenen Karten sind nicht gleich",
    "a card is never dropped. See the other ways out": (
        "eine Karte fällt nie weg. Siehe die anderen Auswege"
    ),
    "{} is the card that could not be read": "{} ist die Karte, die nicht lesbar war",
    "enter it: enter {} CARD": "eingeben: enter {} CARD",
    "{} could not be read": "{} war nicht lesbar",
    "first: correct {} CARD": "erst: correct {} CARD",
    "no card lies on the table": "keine Karte liegt auf dem Tisch",
    "give this scanning up: release keep, then scan again": (
        "dieses Einlesen aufgeben: release keep, dann neu einlesen"
    ),
    "the cards are to be counted before closing": "vor dem Schließen sind die Karten zu zählen",
    "the cards are being counted": "die Karten werden gezählt",
    "the cards are to be inspected before the first shoe": "vor dem ersten Schuh sind die Karten zu prüfen",
    "first: shoe inspect --by-hand": "erst: shoe inspect --by-hand",
    "first: shoe inspect --scan": "erst: shoe inspect --scan",
    "first: shoe inspect --done, or --cancel": "erst: shoe inspect --done oder --cancel",
    "a name is needed: sign-in NAME --pickup left|right": (
        "ein Name fehlt: sign-in NAME --pickup left|right"
    ),
    "the pick-up direction is left or right, not {}": "aufgenommen wird von left oder right, nicht {}",
    "{} is signed in already": "{} ist schon angemeldet",
    "{} picks the cards up {} until the table is closed, so that every hand can be laid out again": (
        "{} nimmt bis zum Schließen von {} auf, damit jede Hand wieder ausgelegt werden kann"
    ),
    "first: sign-in {} --pickup {}": "erst: sign-in {} --pickup {}",
    "the cards lie face up already": "die Karten liegen schon offen",
    "four cards are dealt before they are turned": "vier Karten werden gegeben, ehe man sie aufdeckt",
    "the cards are face down": "die Karten liegen verdeckt",
    "first: turn": "erst: turn",
    "an outcome is player, banker or tie, not {}": "ein Ergebnis ist player, banker oder tie, nicht {}",
    "a table is put on hold for {}, not {}": "ein Tisch wird angehalten wegen {}, nicht {}",
    "no hand lies on the table, so it is not {}": "keine Hand liegt auf dem Tisch, also nicht {}",
    "hold it without --because": "anhalten ohne --because",
    "the table is on hold {} already": "der Tisch ist schon angehalten ({})",
    "there is no alert {}": "eine Meldung {} gibt es nicht",
    "open: {}": "offen: {}",
    "nobody is signed in who could have seen it": "niemand ist angemeldet, der es gesehen haben kann",
    "first: sign-in NAME, or a pit boss: --as NAME": "erst: sign-in NAME, oder ein Pitboss: --as NAME",
    "this is no command": "das ist kein Befehl",
    "it was meant for round {}, now it is {}": "gemeint war Runde {}, jetzt ist {}",
    "the table has changed since ({})": "der Tisch hat sich seither geändert ({})",
    "the table has changed since ({}": "der Tisch hat sich seither geändert ({}",
    "on hold: {}": "angehalten: {}",
    "round {} is {}": "Runde {} ist {}",
    "look again": "noch einmal hinsehen",
    "it does not say what its sender saw: --round SHOE/ROUND or --state VERSION": (
        "es fehlt, was der Sender sah: --round SHOE/ROUND oder --state VERSION"
    ),
    "only a pit boss does this": "das tut nur ein Pitboss",
    "only a pit boss does this: give a name and PIN": "das tut nur ein Pitboss: Name und PIN angeben",
    "give a name and PIN": "Name und PIN angeben",
    "a reason is needed: --reason CODE, or CODE: words": ("ein Grund fehlt: --reason CODE, oder CODE: Worte"),
    "a reason begins with one of {}": "ein Grund beginnt mit einem von {}",
    "then, if you like, words: dealing: seen on video": "dann nach Belieben Worte: dealing: am Video gesehen",
    "the reason 'other' needs words: other: WORDS": "der Grund 'other' braucht Worte: other: WORTE",
    "{} is no way out now": "{} ist jetzt kein Ausweg",
    "ways out: {}": "Auswege: {}",
    "there is none at this moment": "es gibt gerade keinen",
    "the card was not scanned again: scan first": "die Karte ist nicht neu eingelesen: erst einlesen",
    "the card was not scanned again: scan the rest": "die Karte ist nicht neu eingelesen: den Rest einlesen",
    "{} of the {} cards of this round were scanned again: scan the rest": (
        "{} der {} Karten dieser Runde sind neu eingelesen: den Rest einlesen"
    ),
    "{} of the {} cards of this round were scanned again: scan first": (
        "{} der {} Karten dieser Runde sind neu eingelesen: erst einlesen"
    ),
    "no round is in play": "keine Runde läuft",
    "one that was settled before: void SHOE/ROUND": "eine frühere: void SHOE/ROUND",
    "these house rules burn no card after an error": "diese Hausregeln brennen nach einem Fehler keine Karte",
    "only {} cards are left in the shoe": "im Schuh sind nur noch {} Karten",
    "only {} cards are left in the shoe, {} are due to be burned already": (
        "im Schuh sind nur noch {} Karten, {} sind schon zum Brennen fällig"
    ),
    "a pit boss ends it: shoe end": "ein Pitboss beendet ihn: shoe end",
    "the journal is not safe: {}": "das Journal ist nicht sicher: {}",
    "the game server's link is not good: {}": "die Verbindung zum Server ist nicht gut: {}",
    "the beeper cannot be heard: announce by voice": "der Pieper ist nicht zu hören: mit der Stimme ansagen",
    "first: ack beeper": "erst: ack beeper",
    "round {} has no result and is not void in this journal": (
        "Runde {} hat in diesem Journal kein Ergebnis und ist nicht ungültig"
    ),
    "in play is {}": "im Spiel ist {}",
    "round {} is void already": "Runde {} ist schon ungültig",
    "round {} was amended just now (revision {})": "Runde {} wurde eben berichtigt (Fassung {})",
    "look at it again: recall {}": "noch einmal ansehen: recall {}",
    "round {} has no result yet": "Runde {} hat noch kein Ergebnis",
    "its cards are set right by: correct, insert, move": "ihre Karten berichtigt: correct, insert, move",
    "these are the cards it has already": "das sind die Karten, die sie schon hat",
    "say what was wrong: P1=8S": "sagen, was falsch war: P1=8S",
    "under the drawing rule these cards are no finished hand ({})": (
        "nach der Ziehregel sind diese Karten keine fertige Hand ({})"
    ),
    "then only a void is left: void {}": "dann bleibt nur: void {}",
    "{}: {}, or none": "{}: {}, oder none",
    "a position is one of {}, not {}": "ein Platz ist einer von {}, nicht {}",
    "a number from {} to {} is needed, not {}": "eine Zahl von {} bis {} wird gebraucht, nicht {}",
    "the last shoe's cards could not be right": "die Karten des letzten Schuhs konnten nicht stimmen",
    "count them first: shoe inspect --by-hand": "zuerst zählen: shoe inspect --by-hand",
    "{} rounds take {} cards at least, not {}": "{} Runden brauchen mindestens {} Karten, nicht {}",
    "look at the old table's screen": "auf den Schirm des alten Tisches sehen",
    "cards or a round of this shoe are out": "Karten oder eine Runde dieses Schuhs sind heraus",
    "it can only be ended: shoe end": "er kann nur beendet werden: shoe end",
    "burn cards pass the scanner at this table": "Brennkarten gehen an diesem Tisch durch den Leser",
    "scan them. If one did not: hold, then burn done": "einlesen. Wenn eine nicht: hold, dann burn done",
    "the cutting card was not told yet": "die Schnittkarte wurde noch nicht gemeldet",
    "the house rules end this shoe by the share of cards dealt, cutting card or not": (
        "die Hausregeln beenden diesen Schuh nach dem Anteil gegebener Karten, Schnittkarte oder nicht"
    ),
    "cards were drawn since the cutting card": "seit der Schnittkarte wurden Karten gezogen",
    "the pit boss may end the shoe: shoe end": "der Pitboss kann den Schuh beenden: shoe end",
    "dealer and pit boss attest the count": "Croupier und Pitboss bezeugen die Zählung",
    "a count is under way already": "eine Zählung läuft schon",
    "a count by the scanner is under way": "eine Zählung durch den Leser läuft",
    "no count is under way": "keine Zählung läuft",
    "go on, or: shoe inspect --cancel": "weiter, oder: shoe inspect --cancel",
    "only {} of {} cards were counted": "erst {} von {} Karten sind gezählt",
    "cards are counted by-hand or by scan, not {}": "Karten zählt man by-hand oder durch scan, nicht {}",
    "same: yes or no, not {}": "same: yes oder no, nicht {}",
    "another card: --another": "eine andere Karte: --another",
    "{} was reserved and lies in round {} now": "{} war zurückgelegt und liegt jetzt in Runde {}",
    "{}: a card of this round was reserved and lies in round {} now": (
        "{}: eine Karte dieser Runde war zurückgelegt und liegt jetzt in Runde {}"
    ),
    "first: void {}, then again. Another card of that face: with --another.": (
        "erst: void {}, dann noch einmal. Eine andere Karte mit diesem Bild: mit --another."
    ),
    "first: void {}, then again. Another card: with --another.": (
        "erst: void {}, dann noch einmal. Eine andere Karte: mit --another."
    ),
    "first: void {}, then again. Another card of that face: with --another. The one that lies aside"
    " besides: with --same.": (
        "erst: void {}, dann noch einmal. Eine andere Karte mit diesem Bild: mit --another. Die, die noch"
        " beiseite liegt: mit --same."
    ),
    "first: void {}, then again. Another card: with --another. The one that lies aside besides: with"
    " --same.": (
        "erst: void {}, dann noch einmal. Eine andere Karte: mit --another. Die, die noch beiseite liegt:"
        " mit --same."
    ),
    "{}: a card of that face {}": "{}: eine Karte mit diesem Bild {}",
    "{}: a card of this round {}": "{}: eine Karte dieser Runde {}",
    "{}: more than one card lies aside that may be it": "{}: mehr als eine beiseite kann es sein",
    "{}: no card lies aside that may be it": "{}: keine beiseite kann es sein",
    "if it is that card, again with --same": "ist es diese Karte, noch einmal mit --same",
    "if it is another one, with --another": "ist es eine andere, mit --another",
    "{}: a card of this round that lies aside has that face, and another one could not be read": (
        "{}: eine Karte dieser Runde liegt beiseite mit diesem Bild, und eine andere war nicht lesbar"
    ),
    "if it is the one aside, again with --same": "ist es die beiseite, noch einmal mit --same",
    "if it is the unread one, with --another": "ist es die ungelesene, mit --another",
    "wrong name or PIN": "Name oder PIN falsch",
    "too many wrong PINs": "zu viele falsche PINs",
    "wait {} s": "{} s warten",
    "no pit boss is known here: the credential pit-bosses is missing": (
        "hier ist kein Pitboss bekannt: die Zugangsdatei pit-bosses fehlt"
    ),
    "the controller is busy": "die Steuerung ist beschäftigt",
    "try again": "noch einmal versuchen",
}
"""Why it is not, and the way out."""

WORDS: Mapping[str, str] = {
    "none": "keine",
    "burned": "gebrannt",
    "reserved": "zurückgelegt",
    "kept": "zurückgelegt",
    "used": "verbraucht",
    "by call": "durch Anruf",
    "for {}": "wegen {}",
    "is kept with the hold": "liegt mit dem Halt zurück",
    "is reserved for the next round": "ist für die nächste Runde zurückgelegt",
    "was burned": "wurde gebrannt",
    "was drawn and is used": "wurde gezogen und ist verbraucht",
    "{} in round {}": "{} in Runde {}",
    "state {}, now {}": "Stand {}, jetzt {}",
}
"""What is put in."""

ANSWERS: Mapping[str, str] = {**DONE, **REFUSED, **WORDS}
