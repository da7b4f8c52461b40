"""German: the pit boss's part, and what the daemon tells: the words to call, holds, ways out, reasons."""

from __future__ import annotations

from collections.abc import Mapping

from tablectl.table import words

CALLED = {
    words.NO_MORE_BETS: "Nichts geht mehr",
    words.LAST_HAND: "Letztes Spiel vor dem Mischen",
    "Player wins": "Spieler gewinnt",
    "Banker wins": "Bank gewinnt",
    "Egalité, tie": "Égalité, Unentschieden",
    "Player draws": "Spieler zieht",
    "Banker draws": "Bank zieht",
    "Player stands, Banker draws": "Spieler bleibt, Bank zieht",
    "no more cards": "keine weitere Karte",
    "Player's card": "Karte für den Spieler",
    "Banker's card": "Karte für die Bank",
    "cards face down": "Karten verdeckt",
    "A card is due": "Eine Karte ist fällig",
    words.OUT_OF_STEP: "Der Schuh ist aus dem Takt: Ergebnis hier bestätigen",
    words.GAP: "Vielleicht: Meldungen des Schuhs fehlen, er ist aus dem Takt. Karte für Karte vergleichen.",
    words.UNHEARD: (
        "Nach Neustart oder mit anderem Leser: vielleicht fiel eine Karte ungesehen. "
        "Mit dem Bildschirm vergleichen; alle da: zur Hand."
    ),
    words.LOST: "Teil einer Meldung verloren: wurde eine Karte gezogen, die nicht auf dem Bildschirm steht",
    words.LATE: "Vielleicht: eine Karte wurde von Hand eingegeben, und dies ist ihre eigene, späte Meldung.",
    words.SAME_CARD: "Diese Karte wurde schon gelesen: sie zählt einmal",
    words.UNSURE: (
        "Der Leser kann nicht sagen, ob eine Karte noch einmal kam oder eine zweite gleiche. "
        "Mit dem Bildschirm vergleichen; eine mehr gezogen: Taste 6."
    ),
    words.UNREAD_AGAIN: (
        "Vielleicht die nicht lesbare Karte der ungültigen Runde: ist sie es, zählt die Wiederholung nicht."
    ),
    words.RESCAN: "Die Karte war nicht lesbar: noch einmal einlesen",
    "The shoe reports": "Der Schuh meldet",
    "The scanner is ready": "Der Leser ist bereit",
    "The cards are face down; first: turn": "Die Karten liegen verdeckt; zuerst: aufdecken",
    "The shoe's result is awaited: press its button, or: confirm": (
        "Das Ergebnis des Schuhs fehlt: seine Taste drücken, oder hier ansagen"
    ),
    "A card was read twice: taken as one. If two equal cards were drawn: same-again": (
        "Eine Karte zweimal gelesen: gilt als eine. Waren es zwei gleiche: Taste 6"
    ),
    "That card could not be read: scan it again; if it never can, it is foreign or damaged": (
        "Diese Karte war nicht lesbar: neu einlesen; geht es nie, ist sie fremd oder schadhaft"
    ),
    "Betting does not open": "Die Einsätze öffnen nicht",
}
"""What the dealer calls or is told."""

PATTERNS: Mapping[str, str] = {
    r"Player (\d), Banker (\d)": "Spieler {}, Bank {}",
    r"(Part of a message .*does not show)\. If so": "{}? Wenn ja",
    r"Announced (player|banker|tie), the cards say (player|banker|tie)": "Angesagt {}, die Karten sagen {}",
    r"The shoe says ([^,]*), the cards say ([^,]*)\.": "Der Schuh sagt {}, die Karten sagen {}.",
    r"no answer within (\d+) s": "keine Antwort binnen {} s",
    r"silent for (\d+) s": "seit {} s still",
    r"The shoe says that it is empty; (\d+) cards are not accounted for\.": (
        "Der Schuh sagt, er sei leer; {} Karten fehlen."
    ),
    r"(\d+) to (\d+) were due, (\d+) were burned\.": "{} bis {} waren fällig, {} wurden gebrannt.",
    r"(\d+) were due, (\d+) were burned\.": "{} waren fällig, {} wurden gebrannt.",
    r"The card at ([PB][123])\.": "Die Karte auf {}.",
    r"A burn card was due, the shoe calls it (\S+)\.": "Eine Brennkarte war fällig, der Schuh nennt sie {}.",
}

AWAY = {
    "there is no such socket; is the daemon running (systemctl status 'tablectl@*')?": (
        "diesen Socket gibt es nicht; läuft der Dienst (systemctl status 'tablectl@*')?"
    ),
    "nobody listens there: it is down; systemctl status 'tablectl@*' says why": (
        "dort hört niemand: der Dienst steht; systemctl status 'tablectl@*' sagt, warum"
    ),
    "you may not use it; join the group tablectl": "kein Zutritt; dafür in die Gruppe tablectl aufnehmen",
    "the daemon takes no more connections; try again": "der Dienst nimmt keine mehr an; noch einmal",
    "the daemon takes no connection; try again": "der Dienst nimmt keine Verbindung an; noch einmal",
    "no usable answer": "keine brauchbare Antwort",
}
"""Why the daemon does not answer (:mod:`tablectl.local`)."""

HOLDS = {
    "A card was drawn while betting was open.": "Eine Karte wurde bei offenen Einsätzen gezogen.",
    "A card was drawn when none was due.": "Eine Karte wurde gezogen, als keine fällig war.",
    "One burn card too many was drawn.": "Eine Brennkarte zu viel wurde gezogen.",
    "The number of burn cards is not right.": "Die Zahl der Brennkarten stimmt nicht.",
    "A card could not be read.": "Eine Karte war nicht lesbar.",
    "A card was drawn and not read.": "Eine Karte wurde gezogen und nicht gelesen.",
    "One card was read twice.": "Eine Karte wurde zweimal gelesen.",
    "Two cards were drawn at once; their order must be certain, on video.": (
        "Zwei Karten zugleich gezogen; die Reihenfolge muss sicher sein (Video)."
    ),
    "A card was drawn before the four cards were turned.": "Karte gezogen, ehe die vier aufgedeckt waren.",
    "The shoe puts a card in another place than the rule.": "Der Schuh legt eine Karte anders als die Regel.",
    "A card was drawn in excess of the hand.": "Eine Karte mehr, als die Hand braucht, wurde gezogen.",
    "The shoe says another result than the cards.": "Der Schuh sagt ein anderes Ergebnis als die Karten.",
    "The dealer announced another result than the cards.": (
        "Angesagt wurde ein anderes Ergebnis als die Karten."
    ),
    "The shoe is exhausted: no card is left in it.": "Der Schuh ist leer: keine Karte ist mehr darin.",
    "The cards cannot be right. Was one read wrong? Else take the shoe out of play and count it.": (
        "Karten stimmen nicht. Eine falsch gelesen? Sonst Schuh heraus, zählen."
    ),
    "The scanner was lost; a card may have been drawn unseen.": (
        "Leser war weg; vielleicht fiel eine Karte ungesehen."
    ),
    "The shoe was restarted in the middle of a round.": "Der Schuh wurde mitten in der Runde neu gestartet.",
    "The shoe reports an error.": "Der Schuh meldet einen Fehler.",
    "The controller was restarted in the middle of a round.": (
        "Die Steuerung startete mitten in der Runde neu."
    ),
    "Cards on the table are being scanned again.": "Karten auf dem Tisch werden neu eingelesen.",
    "The journal cannot keep up. The table goes on by itself when it can.": (
        "Das Journal kommt nicht nach. Es geht von selbst weiter."
    ),
    "The table was put on hold.": "Der Tisch wurde angehalten.",
    "No card was scanned in its place.": "An ihrer Stelle wurde keine eingelesen.",
    "Compare the cards on the table with the screen.": "Karten auf dem Tisch mit dem Bildschirm vergleichen.",
    "The newest entries were lost: compare the cards on the table.": (
        "Die neuesten Einträge gingen verloren: die Karten auf dem Tisch vergleichen."
    ),
    "Cards were drawn meanwhile.": "Inzwischen wurden Karten gezogen.",
    "First: turn.": "Zuerst: aufdecken.",
    "More cards were kept than the hand takes.": "Mehr Karten zurückgelegt, als die Hand nimmt.",
    "Another one takes its place.": "Ein anderer tritt an seine Stelle.",
    "It could not be read.": "Sie war nicht lesbar.",
    "A card could not be read, and the hand is complete without it.": (
        "Eine Karte war nicht lesbar, und die Hand ist ohne sie vollständig."
    ),
    "It no longer belongs to the hand.": "Sie gehört nicht mehr zur Hand.",
    "All cards of this round, in the order they were drawn.": (
        "Alle Karten dieser Runde, wie sie gezogen wurden."
    ),
    "It was tried twice.": "Es wurde zweimal versucht.",
    "The first card's value is not known; then: burn N.": (
        "Der Wert der ersten ist unbekannt; danach: burn N."
    ),
    "Its result button was pressed and the hand is not complete.": (
        "Seine Ergebnistaste wurde gedrückt, und die Hand ist nicht vollständig."
    ),
    "It ended the round by force.": "Er hat die Runde abgebrochen.",
    "The shoe says so.": "Das sagt der Schuh.",
}
"""What each hold means, and what is said besides."""

WAYS = {
    "the card stays as the Player's first card": "die Karte bleibt erste Karte des Spielers",
    "the cards kept go to the hand in the order they came": "zurückgelegte Karten zur Hand, wie sie kamen",
    "the cards kept are the first ones of the next round": "zurückgelegte Karten beginnen die nächste Runde",
    "the cards kept are burned": "zurückgelegte Karten werden gebrannt",
    "one card was read twice, the repeat is taken out of hand and count": (
        "eine Karte zweimal gelesen: die Wiederholung zählt nicht"
    ),
    "what the screen shows stands": "es gilt, was der Bildschirm zeigt",
    "scan the card again": "Karte noch einmal einlesen",
    "the cards just scanned again are the right ones": "die neu eingelesenen Karten sind die richtigen",
    "no more cards lie there than those scanned again": "mehr als die neu gelesenen liegen nicht da",
    "the cards on the table are those on the screen": "auf dem Tisch liegt, was der Bildschirm zeigt",
    "go on": "weiter",
    "the four cards that lie face down are turned": "die vier verdeckten Karten sind aufgedeckt",
    "scan all cards on the table again, in the order they were drawn": (
        "alle Karten neu einlesen, wie sie gezogen wurden"
    ),
    "so many burn cards were drawn that the scanner did not see": "so viele wurden ungelesen gebrannt",
}
"""What each way out of a hold does."""

COMMANDS = {
    "a card was read wrong": "eine Karte wurde falsch gelesen",
    "a card lies there that was not read": "eine Karte liegt da, die nicht gelesen wurde",
    "a card stands in the wrong place": "eine Karte steht am falschen Platz",
    "the card that is due, by hand": "die fällige Karte, von Hand",
    "a round does not count": "eine Runde zählt nicht",
    "the cards of a round that is over": "die Karten einer beendeten Runde",
    "burn cards, by order": "Karten brennen, auf Anordnung",
    "the burn after a game error": "das Brennen nach einem Spielfehler",
    "Order the burn after a game error.": "Brennen nach einem Spielfehler anordnen.",
    "a hand without wagers": "ein Spiel ohne Einsätze",
    "Begin a hand without wagers.": "Ein Spiel ohne Einsätze beginnen.",
    "count the cards": "Karten zählen",
    "take the shoe out of play": "Schuh aus dem Spiel nehmen",
    "The shoe is taken out of play; a round in play becomes VOID.": (
        "Der Schuh kommt aus dem Spiel; eine laufende Runde wird UNGÜLTIG."
    ),
    "take over a shoe in mid-shoe": "einen angespielten Schuh übernehmen",
    "the cutting card is not out": "die Schnittkarte ist nicht draußen",
    "The cutting card is taken back.": "Die Schnittkarte wird zurückgenommen.",
    "the new shoe was not started": "der neue Schuh wurde nicht begonnen",
    "The new shoe is taken back.": "Der neue Schuh wird zurückgenommen.",
    "put the table on hold": "Tisch anhalten",
    "an alert was seen": "ein Alarm wurde gesehen",
    "another scanner, same cards": "anderer Leser, dieselben Karten",
    "Another scanner goes on with the same cards.": "Ein anderer Leser macht mit denselben Karten weiter.",
}
"""The pit boss's menu."""

PIT_BOSS = {
    "Which card lies at {place}?": "Welche Karte liegt auf {place}?",
    "Which card was read wrong?": "Welche Karte wurde falsch gelesen?",
    "Correct {place} to {card}; all cards are dealt anew by the rule.": (
        "{place} auf {card} berichtigen; alle Karten neu nach der Regel verteilt."
    ),
    "Where does the card lie that was not read?": "Wo liegt die Karte, die nicht gelesen wurde?",
    "Insert {card} at {place}; the cards behind it move on by the rule.": (
        "{card} auf {place} einfügen; die dahinter rücken nach der Regel weiter."
    ),
    "Which card stands in the wrong place?": "Welche Karte steht am falschen Platz?",
    "Where does {place} belong?": "Wohin gehört {place}?",
    "Move {place} to {to}; all cards are dealt anew by the rule.": (
        "{place} nach {to} setzen; alle Karten neu nach der Regel verteilt."
    ),
    "Where does the card lie that is entered by hand?": "Wo liegt die Karte, die von Hand eingegeben wird?",
    "Enter {card} at {place} by hand; it is published as entered by hand.": (
        "{card} auf {place} von Hand eingeben; so wird sie auch veröffentlicht."
    ),
    "Which round becomes void?": "Welche Runde wird ungültig?",
    "{where}, the round in play": "{where}, die laufende Runde",
    "an earlier one ...": "eine frühere ...",
    "Which earlier round becomes void?": "Welche frühere Runde wird ungültig?",
    "Round {where} becomes VOID; bets settled by it are taken back.": (
        "Runde {where} wird UNGÜLTIG; ihre Abrechnung wird zurückgenommen."
    ),
    "Round {where} becomes VOID; its cards stay used.": (
        "Runde {where} wird UNGÜLTIG; ihre Karten bleiben verbraucht."
    ),
    "Which round is amended?": "Welche Runde wird berichtigt?",
    "So far: {cards}": "Bisher: {cards}",
    "that is all": "das ist alles",
    "{where}: which card is wrong?": "{where}: welche Karte ist falsch?",
    "{where}: at {place}": "{where}: auf {place}",
    "another card lay there": "dort lag eine andere Karte",
    "no card lay there": "dort lag keine Karte",
    "{where}: which card lay at {place}?": "{where}: welche Karte lag auf {place}?",
    "Amend {where}: {cards}; its result becomes what those cards say.": (
        "{where} berichtigen: {cards}; es gilt das Ergebnis dieser Karten."
    ),
    "How many cards are burned?": "Wie viele Karten werden gebrannt?",
    "Burn {n}, by order.": "{n} brennen, auf Anordnung.",
    "The shoe's number": "Nummer des Schuhs",
    "Cards out of it, burned ones too": "Karten daraus, gebrannte mitgezählt",
    "Rounds played from it": "Runden daraus gespielt",
    "Is the coming hand its last?": "Ist das kommende Spiel sein letztes?",
    "no": "nein",
    "yes": "ja",
    "Take over shoe {shoe}: {out} out, {rounds}; its cards are only counted.": (
        "Schuh {shoe} übernehmen: {out} heraus, {rounds}; Karten nur gezählt."
    ),
    "1 card": "1 Karte",
    "{n} cards": "{n} Karten",
    "1 round": "1 Runde",
    "{n} rounds": "{n} Runden",
    "Count of the cards, attested by dealer and pit boss": "Kartenzählung, bezeugt von Croupier und Pitboss",
    "counted by hand: record it": "von Hand gezählt: eintragen",
    "begin a count by the scanner: pass every card through it": (
        "Zählung mit dem Leser beginnen: jede Karte durchlaufen lassen"
    ),
    "the count is over: record it": "die Zählung ist fertig: eintragen",
    "break the count off": "Zählung abbrechen",
    "What was found?": "Was wurde gefunden?",
    "complete, none marked": "vollständig, keine gezeichnet",
    "a card is missing": "eine Karte fehlt",
    "a card is too many": "eine Karte ist zu viel",
    "a card is damaged or marked": "eine Karte ist schadhaft oder gezeichnet",
    "a card was replaced by a new one": "eine Karte wurde durch eine neue ersetzt",
    "a card of another set, in words ...": "Karte eines anderen Satzes, in Worten ...",
    "Cards of another set, in your words": "Karten eines anderen Satzes, in Ihren Worten",
    "Which card: {what}?": "Welche Karte: {what}?",
    "missing": "fehlt",
    "extra": "zu viel",
    "damaged": "schadhaft",
    "replaced": "ersetzt",
    "foreign": "fremd",
    "Record the count of the cards": "Zählung der Karten eintragen",
    "Begin the count: every card scanned then is counted, not dealt": (
        "Zählung beginnen: jede eingelesene Karte wird gezählt, nicht gegeben"
    ),
    "End the count and record it": "Zählung beenden und eintragen",
    "Break the count off; nothing is recorded": "Zählung abbrechen; nichts wird eingetragen",
    "Release: {what}.": "Freigeben: {what}.",
    "{would} Why?": "{would} Warum?",
    "{code}: and in words?": "{code}: und in Worten?",
    "{code}: in your words": "{code}: in Ihren Worten",
    "nothing more": "nichts weiter",
    "type it ...": "eintippen ...",
    "seen on video": "auf Video gesehen",
    "seen at the table": "am Tisch gesehen",
    "told by the dealer": "vom Croupier berichtet",
    "agreed with the players": "mit den Spielern geklärt",
    "written report follows": "schriftlicher Bericht folgt",
    "Which pit boss approves?": "Welcher Pitboss genehmigt?",
    "Which card is it?": "Welche Karte ist es?",
    "that card: it lies aside and is counted": "diese: sie liegt beiseite und ist gezählt",
    "another card: it was never counted": "eine andere: sie wurde nie gezählt",
    "Which pit boss?": "Welcher Pitboss?",
    "This would do: {command}.": "Das täte: {command}.",
    "PIN of {name}, then Enter": "PIN von {name}, dann Enter",
    "Reason: {reason}": "Grund: {reason}",
}
"""What the pit boss is asked."""

REASONS = {
    "part of the procedure: opening, closing, shuffle, change of shift": (
        "Teil des Ablaufs: Öffnen, Schließen, Mischen, Schichtwechsel"
    ),
    "the scanner read a card wrong, or not at all": "der Leser las eine Karte falsch oder nicht",
    "a card was drawn that the scanner did not see": "eine gezogene Karte sah der Leser nicht",
    "one card was read twice": "eine Karte wurde zweimal gelesen",
    "the dealer's error: a card early, in excess, out of order, exposed": (
        "Fehler des Croupiers: Karte zu früh, zu viel, vertauscht"
    ),
    "the wrong result was announced or entered": "falsches Ergebnis angesagt oder eingegeben",
    "a player or the game server objected; settled on the cards or on video": (
        "Einspruch; an den Karten oder auf Video geklärt"
    ),
    "a card is missing, extra, foreign, damaged or marked; the shuffle is in doubt": (
        "Karte fehlt, zu viel, fremd, schadhaft; Mischen zweifelhaft"
    ),
    "shoe, scanner, cable or power failed": "Schuh, Leser, Kabel oder Strom ausgefallen",
    "controller, network, game server or disk failed": "Steuerung, Netz, Spielserver oder Platte ausgefallen",
    "game protection": "Spielschutz",
    "a test or a lesson": "Probe oder Unterricht",
    "none of these: words are needed": "nichts davon: Worte sind nötig",
}
"""The codes of reasons."""

TOLD: Mapping[str, str] = {**CALLED, **AWAY, **HOLDS, **WAYS, **COMMANDS, **PIT_BOSS, **REASONS}
