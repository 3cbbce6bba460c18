// What a workspace looked like when its task got it. By it the server knows what a task has changed, without asking a
// program that would read what the task wrote.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAdministration, walkTree } from './walk-tree.js';
/** The times of files have the steps of the system's clock: a write within one step leaves no trace in them. */
const STEP_MS = 20;
const filledOf = (slot) => join(slot, 'filled.json');
const committedOf = (slot) => join(slot, 'committed.json');
/** Looks at a tree that was just filled, and keeps what is there, beside it in the slot. */
export async function rememberTree(slot, tree, options = {}) {
    await rm(committedOf(slot), { force: true });
    await sleep(STEP_MS);
    const { found } = await walkTree(tree, { ...options, isWhole: true });
    await write(filledOf(slot), found);
}
/** Keeps what the tree looked like when it was committed. */
export const rememberCommit = (slot, memory) => write(committedOf(slot), memory);
/** What the tree looked like when it was last committed, or filled. */
export const lastMemory = async (slot) => (await read(committedOf(slot)).catch(() => undefined)) ?? (await read(filledOf(slot)));
async function write(file, found) {
    const entries = [...found].map(([path, { kind, stamp }]) => [path, kind, stamp]);
    await writeFile(file, JSON.stringify(entries), { mode: 0o600 });
}
async function read(file) {
    const entries = JSON.parse(await readFile(file, 'utf8'));
    return new Map(entries.map(([path, kind, stamp]) => [path, { kind, stamp }]));
}
/** Whether nothing in the tree differs from how it was filled or, where that came later, committed. */
export async function isAsLeft(slot, tree, options = {}) {
    const memory = await lastMemory(slot);
    const { found } = await walkTree(tree, { ...options, isWhole: true });
    return found.size === memory.size && [...found].every(([path, one]) => isSame(one, memory.get(path)));
}
export const isSame = (one, other) => one.kind === other?.kind && one.stamp === other.stamp;
/** What is not as remembered, in no order. `found` is of the same part of the tree. */
export function changesOf(memory, found, { base = '' } = {}) {
    const changes = [];
    for (const [path, after] of found) {
        const before = memory.get(path);
        if (!isSame(after, before))
            changes.push({ path, before, after });
    }
    for (const [path, before] of memory) {
        const isInside = base === '' || path === base || path.startsWith(`${base}/`);
        if (isInside && !found.has(path))
            changes.push({ path, before, after: undefined });
    }
    return changes;
}
/** What a task has changed, and the administrations that came with it. */
export async function readChanges(slot, tree, options) {
    const memory = await lastMemory(slot);
    const { found, administrations } = await walkTree(tree, options);
    const changes = changesOf(memory, found, options).filter(({ path, before, after }) => !isInAdministration(path) && (before?.kind !== 'folder' || after?.kind !== 'folder'));
    return { memory, found, changes, administrations: administrations.filter((path) => !memory.has(path)) };
}
const isInAdministration = (path) => path.split('/').some(isAdministration);
