"""The tables of the money side, in the server's one database: who plays, what lies where, what was moved.

Movements and endings are only ever added to; the database itself refuses a change and keeps the balances.
"""

from __future__ import annotations

MONEY = """
CREATE TABLE IF NOT EXISTS players (
    id TEXT PRIMARY KEY, currency TEXT NOT NULL, token BLOB UNIQUE NOT NULL, made INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS terms (number INTEGER PRIMARY KEY, body TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS floor (
    table_id TEXT, epoch TEXT, open INTEGER NOT NULL, shoe INTEGER, round INTEGER,
    opened_terms INTEGER, shoe_terms INTEGER, PRIMARY KEY (table_id, epoch)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wagers (
    number INTEGER PRIMARY KEY, table_id TEXT NOT NULL, epoch TEXT NOT NULL, shoe INTEGER NOT NULL,
    round INTEGER NOT NULL, player TEXT NOT NULL, area TEXT NOT NULL, part TEXT NOT NULL,
    stake INTEGER NOT NULL CHECK (stake > 0), currency TEXT NOT NULL, terms INTEGER NOT NULL,
    state TEXT NOT NULL, carried_from INTEGER, placed INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS wagers_one
    ON wagers (table_id, epoch, shoe, round, player, part) WHERE state = 'open';
CREATE INDEX IF NOT EXISTS wagers_of_round ON wagers (table_id, epoch, shoe, round);
CREATE INDEX IF NOT EXISTS wagers_lying ON wagers (table_id, player) WHERE state IN ('open', 'stands');
CREATE INDEX IF NOT EXISTS wagers_of_player ON wagers (player, table_id, number);
CREATE INDEX IF NOT EXISTS wagers_carried ON wagers (carried_from) WHERE carried_from IS NOT NULL;
CREATE TABLE IF NOT EXISTS endings (
    number INTEGER PRIMARY KEY, wager INTEGER NOT NULL, event TEXT NOT NULL, revision INTEGER NOT NULL,
    how TEXT NOT NULL, odds TEXT, back INTEGER NOT NULL, won INTEGER NOT NULL, capped INTEGER NOT NULL,
    UNIQUE (wager, event));
CREATE TABLE IF NOT EXISTS answered (
    player TEXT, id TEXT, sha256 BLOB NOT NULL, answer TEXT NOT NULL, seen INTEGER NOT NULL,
    PRIMARY KEY (player, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answered_when ON answered (seen);
CREATE TABLE IF NOT EXISTS accounts (
    name TEXT, currency TEXT, balance INTEGER NOT NULL, PRIMARY KEY (name, currency)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS movements (
    number INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, currency TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0), why TEXT NOT NULL, event TEXT NOT NULL, wager INTEGER,
    takes_back INTEGER UNIQUE, seen INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS movements_once
    ON movements (wager, event, source, target, why) WHERE event != '';
CREATE INDEX IF NOT EXISTS movements_from ON movements (source, number);
CREATE INDEX IF NOT EXISTS movements_to ON movements (target, number);
CREATE INDEX IF NOT EXISTS movements_of_wager ON movements (wager);
CREATE TRIGGER IF NOT EXISTS movements_count AFTER INSERT ON movements BEGIN
    UPDATE accounts SET balance = balance - NEW.amount WHERE name = NEW.source AND currency = NEW.currency;
    UPDATE accounts SET balance = balance + NEW.amount WHERE name = NEW.target AND currency = NEW.currency;
END;
CREATE TRIGGER IF NOT EXISTS movements_stay BEFORE UPDATE ON movements BEGIN
    SELECT RAISE(ABORT, 'a movement is never changed'); END;
CREATE TRIGGER IF NOT EXISTS movements_last BEFORE DELETE ON movements BEGIN
    SELECT RAISE(ABORT, 'a movement is never deleted'); END;
CREATE TRIGGER IF NOT EXISTS endings_stay BEFORE UPDATE ON endings BEGIN
    SELECT RAISE(ABORT, 'an ending is never changed'); END;
CREATE TRIGGER IF NOT EXISTS endings_last BEFORE DELETE ON endings BEGIN
    SELECT RAISE(ABORT, 'an ending is never deleted'); END;
"""
