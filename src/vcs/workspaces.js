// Workspaces are kept in slots, folders `workspaces/<id>` of the cache, each with a lock `<id>.lock` beside it. Whoever
// holds the lock has the slot to himself. A slot whose holder was killed is never used again: what he started may still
// be writing there, so it is thrown away, and a new one has a new name.
import { randomUUID } from 'node:crypto';
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyTrash, makeFolder, namesIn, throwAway } from './cache.js';
import { AuthenticationFailed, PathNotFound, RepositoryUnreachable, RevisionNotFound, ToolMissing } from './errors.js';
import { tryLock } from './lock.js';
const live = new WeakSet();
/** Whether the workspace is still its caller's. */
export const isLive = (workspace) => live.has(workspace);
export const treeOf = (slot) => join(slot, 'tree');
/** A slot with the tree of the revision, taken from those that are free or made anew. */
export async function takeWorkspace(session, filler, wanted) {
    await emptyTrash(session.folder);
    const { lock, slot } = (await reuse(session, filler, wanted)) ?? (await make(session, filler, wanted));
    await writeFile(join(slot, 'key'), wanted.key);
    const release = async () => {
        if (!live.delete(workspace))
            return;
        await lock.release();
        await dropSurplus(session);
    };
    const path = wanted.path === '' ? treeOf(slot) : join(treeOf(slot), wanted.path);
    const { revision, needs } = wanted;
    const workspace = { path, revision, slot, needs, [Symbol.asyncDispose]: release };
    live.add(workspace);
    return workspace;
}
async function reuse(session, filler, { revision, key }) {
    const order = (a, b) => Number(b.key === key) - Number(a.key === key) || b.usedAt - a.usedAt;
    for (const { id } of (await readSlots(session)).sort(order)) {
        const taken = await takeFree(session, id);
        if (!taken)
            continue;
        try {
            // Were the tree a link to elsewhere, cleaning it would clean that place.
            if (!(await lstat(treeOf(taken.slot))).isDirectory())
                throw new Error('the tree is no folder');
            await filler.refresh(taken.slot, revision);
            return taken;
        }
        catch (error) {
            const isOurs = !isOfRepository(error, session);
            if (isOurs)
                await throwAway(session.folder, taken.slot);
            await taken.lock.release();
            if (!isOurs)
                throw error;
        }
    }
    return undefined;
}
/** The slot's lock when nobody has it; undefined when somebody does, or when the slot had to be thrown away. */
async function takeFree(session, id) {
    const lock = await tryLock(lockOf(session, id));
    if (!lock)
        return undefined;
    const slot = slotOf(session, id);
    if (lock.wasAbandoned)
        await throwAway(session.folder, slot);
    const isThere = await lstat(slot).catch(() => undefined);
    if (isThere)
        return { lock, slot };
    await lock.release();
    return undefined;
}
async function make(session, filler, { revision }) {
    const id = randomUUID();
    const slot = slotOf(session, id);
    await makeFolder(join(session.folder, 'workspaces'));
    // Before the folder: a slot without a lock is free for everybody.
    const lock = await tryLock(lockOf(session, id));
    if (!lock)
        throw new Error(`the lock of the new workspace ${id} is taken`);
    try {
        await makeFolder(slot);
        await filler.create(slot, revision);
        return { lock, slot };
    }
    catch (error) {
        await throwAway(session.folder, slot);
        await lock.release();
        throw error;
    }
}
/** Errors that a new slot would meet as well, so that this one is kept. */
function isOfRepository(error, { signal }) {
    const classes = [RepositoryUnreachable, AuthenticationFailed, RevisionNotFound, PathNotFound, ToolMissing];
    return signal?.aborted === true || classes.some((one) => error instanceof one);
}
/** Throws away what is free beyond the number to keep, longest unused first. */
async function dropSurplus(session) {
    const slots = (await readSlots(session)).sort((a, b) => a.usedAt - b.usedAt);
    let surplus = slots.length - session.keepWorkspaces;
    for (const { id } of slots) {
        if (surplus <= 0)
            return;
        const taken = await takeFree(session, id);
        if (!taken)
            continue;
        await throwAway(session.folder, taken.slot);
        await taken.lock.release();
        surplus -= 1;
    }
}
async function readSlots(session) {
    // Also those of which a crash left the lock alone.
    const ids = new Set((await namesIn(join(session.folder, 'workspaces'))).map((name) => name.replace(/\..*/, '')));
    return Promise.all([...ids].map(async (id) => {
        const file = join(slotOf(session, id), 'key');
        const key = await readFile(file, 'utf8').catch(() => '');
        const facts = await lstat(file).catch(() => undefined);
        return { id, key, usedAt: facts?.mtimeMs ?? 0 };
    }));
}
const slotOf = ({ folder }, id) => join(folder, 'workspaces', id);
const lockOf = (session, id) => `${slotOf(session, id)}.lock`;
