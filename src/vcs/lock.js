// A lock is a file that names its holder. It appears whole by link(2), so that nobody reads half a name, and a holder
// that was killed leaves one that the next sees through.
//
// Taking over from a dead holder is the delicate part: the file must not be replaced when meanwhile somebody else has
// taken over and lives. The right to replace *this* holder's file is therefore a lock of its own, named after the
// holder's nonce and taken in the same way. Whoever has it looks again: while the dead holder's name still stands in the
// file nobody but him may touch it, so renaming over it is safe.
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, thisProcess } from './process-identity.js';
const BEAT_MS = 20_000;
const SILENT_MS = 120_000; // six beats; only for holders whose process cannot be looked at from here
const LOOK_MS = 25;
/** Takes the lock, or answers undefined when a living process has it. */
export async function tryLock(file) {
    const mine = { ...thisProcess(), nonce: randomUUID() };
    const draft = `${file}.${mine.nonce}`;
    await writeFile(draft, JSON.stringify(mine), { mode: 0o600 });
    try {
        if (await linkNew(draft, file))
            return hold(file, mine, false);
        const holder = await readHolder(file);
        // Unreadable means that it was just released; the next look will tell.
        if (!holder || (await isHeld(file, holder)))
            return undefined;
        const right = await tryLock(`${file}.${holder.nonce.slice(0, 8)}`);
        if (!right)
            return undefined;
        try {
            if ((await readHolder(file))?.nonce !== holder.nonce)
                return undefined;
            await rename(draft, file);
            return hold(file, mine, true);
        }
        finally {
            await right.release();
        }
    }
    finally {
        await rm(draft, { force: true });
    }
}
/** Waits for the lock as long as it takes or until the signal. */
export async function lock(file, signal) {
    for (;;) {
        signal?.throwIfAborted();
        const taken = await tryLock(file);
        if (taken)
            return taken;
        await sleep(LOOK_MS);
    }
}
function hold(file, mine, wasAbandoned) {
    const beat = setInterval(() => {
        const now = new Date();
        utimes(file, now, now).catch(() => { }); // the folder was removed; there is nothing left to hold
    }, BEAT_MS);
    beat.unref();
    const release = async () => {
        clearInterval(beat);
        const holder = await readHolder(file);
        if (holder?.nonce === mine.nonce)
            await rm(file, { force: true });
    };
    return { wasAbandoned, release };
}
/** By its process where that can be seen; another container's or host's holder lives as long as its file is touched. */
async function isHeld(file, holder) {
    const alive = isAlive(holder);
    if (alive !== undefined)
        return alive;
    try {
        return Date.now() - (await stat(file)).mtimeMs < SILENT_MS;
    }
    catch {
        return true; // released a moment ago
    }
}
async function linkNew(draft, file) {
    try {
        await link(draft, file);
        return true;
    }
    catch (error) {
        if (error.code === 'EEXIST')
            return false;
        throw error;
    }
}
async function readHolder(file) {
    try {
        return JSON.parse(await readFile(file, 'utf8'));
    }
    catch {
        return undefined;
    }
}
