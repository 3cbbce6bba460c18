// Brings one tree to what another one is, change by change. The tree that is written belongs to the server alone for as long.
import { chmod, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from './cache.js';
import { takeContent, toPath } from './walk-tree.js';
/** Returns what was copied, as it was at that moment; what had gone away in between is removed in `to` as well. */
export async function applyChanges(changes, at) {
    const paths = changes.map((change) => ({ ...change, name: toPath(change.path) }));
    for (const { name, before, after } of paths) {
        const isOther = before !== undefined && (after === undefined || before.kind !== after.kind);
        if (isOther)
            await removeTree(join(at.to, name));
    }
    for (const { name } of paths.filter(({ after }) => after?.kind === 'folder').sort(byDepth))
        await makeFolder(at.to, name);
    const copied = new Map();
    for (const [i, { path, name, after }] of paths.entries()) {
        if (after === undefined || after.kind === 'folder')
            continue;
        const draft = join(at.drafts, `copy-${i}`);
        const taken = await takeContent(at.from, path, draft);
        const place = join(at.to, name);
        if (taken === undefined) {
            await removeTree(place);
            continue;
        }
        await makeFolder(at.to, dirname(name));
        await putInPlace(draft, place, taken);
        copied.set(path, { kind: taken.kind, stamp: taken.stamp });
    }
    return copied;
}
const byDepth = (a, b) => a.path.length - b.path.length;
/** Makes the folder and those above it. A link or a file in their place would be one that an earlier change has missed. */
async function makeFolder(root, path) {
    let at = root;
    for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
        at = join(at, name);
        const facts = await lstat(at).catch(() => undefined);
        if (facts?.isDirectory())
            continue;
        if (facts !== undefined)
            await rm(at);
        await mkdir(at);
    }
}
async function putInPlace(draft, place, { kind, isExecutable }) {
    const there = await lstat(place).catch(() => undefined);
    if (there?.isDirectory())
        await removeTree(place);
    if (kind === 'file') {
        await chmod(draft, isExecutable ? 0o755 : 0o644);
        await rename(draft, place);
        return;
    }
    await rm(place, { force: true });
    await symlink(await readFile(draft), place);
    await rm(draft);
}
