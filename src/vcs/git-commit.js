var __addDisposableResource = (this && this.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var __disposeResources = (this && this.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});
// Commits are made in the mirror, without a checkout, and pushed with the condition that the branch is still where it was
// when they were made. Subversion merges commits that touch different files; here the same is done by hand: the changes
// are put on top of the youngest commit, provided that every path they touch is there as it was in their base.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './cache.js';
import { checkChanges, contentFile, foldersAbove } from './check-changes.js';
import { InvalidChange, OutOfDate, PathNotFound } from './errors.js';
import { readEdits, storeBlobs } from './git-edits.js';
import { runGit } from './git-tool.js';
import { readTree, treeish } from './git-tree.js';
import { baselineOf } from './git-workspace.js';
import { joinPath } from './location.js';
import { checkMarker, readPerson, withTrailer } from './message.js';
import { nameOf } from './session.js';
import { rememberCommit } from './tree-memory.js';
const ATTEMPTS = 10; // each lost only to somebody else's successful push
const PATHS_PER_CALL = 500; // stays far below the limit of an argument list
/** Commits what is different in the slot; undefined when nothing is. */
export async function commitSlot(session, branch, { slot, ...options }) {
    const baseline = await readFile(baselineOf(slot), 'utf8');
    const { edits, memory } = await readEdits(session, { slot, baseline, base: branch.base });
    if (edits.length === 0)
        return undefined;
    let isOnBaseline = false;
    const prepare = async (tip) => {
        isOnBaseline = treeish(tip) === baseline;
        return edits;
    };
    const committed = await push(session, branch, { ...options, prepare });
    await writeFile(baselineOf(slot), isOnBaseline ? committed.id : await treeWith(session, baseline, edits));
    await rememberCommit(slot, memory);
    return committed;
}
/** One commit of the changes, on top of the youngest, whatever else happened since their base. */
export async function commitChanges(session, branch, options) {
    const changes = checkChanges('git', options.changes).map((change) => ({
        ...change,
        path: joinPath(branch.base, change.path),
    }));
    const blobs = await writeBlobs(session, changes);
    const prepare = (tip) => planEdits(session, { changes, blobs, base: options.base ?? tip });
    return push(session, branch, { ...options, prepare });
}
/** The ids of the contents, in the order of the changes. */
async function writeBlobs(session, changes) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const folder = __addDisposableResource(env_1, await temporaryFolder(session.folder), true);
        const files = new Map();
        for (const [i, change] of changes.entries()) {
            if (change.type === 'put')
                files.set(change.path, await contentFile(change.content, join(folder.path, `content-${i}`)));
        }
        const ids = await storeBlobs(session, [...files.values()]);
        return new Map([...files.keys()].map((path, i) => [path, ids[i] ?? '']));
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        const result_1 = __disposeResources(env_1);
        if (result_1)
            await result_1;
    }
}
async function planEdits(session, { changes, blobs, base }) {
    const there = await readEntries(session, treeish(base), changes.map(({ path }) => path));
    const inside = new Map();
    for (const path of there.keys()) {
        for (const folder of foldersAbove(path)) {
            const paths = inside.get(folder);
            if (paths)
                paths.push(path);
            else
                inside.set(folder, [path]);
        }
    }
    const edits = new Map();
    for (const { type, path } of changes) {
        if (type !== 'delete')
            continue;
        const gone = there.has(path) ? [path] : (inside.get(path) ?? []);
        if (gone.length === 0)
            throw new PathNotFound(`${path} is to be deleted, but does not exist`);
        for (const one of gone)
            edits.set(one, { path: one, before: there.get(one), after: undefined });
    }
    for (const change of changes) {
        const { type, path } = change;
        const isFile = there.has(path) && !edits.has(path);
        if (type === 'mkdir' && isFile)
            throw new InvalidChange(`${path} is a file, not a folder`);
        if (type !== 'put')
            continue;
        if (inside.get(path)?.some((one) => !edits.has(one)))
            throw new InvalidChange(`${path} is a folder, not a file`);
        const before = there.get(path);
        const mode = modeFor(change.isExecutable, before);
        edits.set(path, { path, before, after: { mode, id: blobs.get(path) ?? '' } });
    }
    await checkFolders(session, treeish(base), [...edits.values()]);
    return [...edits.values()];
}
function modeFor(isExecutable, before) {
    if (isExecutable === undefined)
        return before?.mode === '100755' ? '100755' : '100644';
    return isExecutable ? '100755' : '100644';
}
/** What lies at the paths and below them. */
async function readEntries(session, tree, paths) {
    const entries = new Map();
    for (let i = 0; i < paths.length; i += PATHS_PER_CALL) {
        const some = paths.slice(i, i + PATHS_PER_CALL);
        for await (const { mode, id, path } of readTree(session, ['-r', tree, '--', ...some]))
            entries.set(path, { mode, id });
    }
    return entries;
}
/** Throws when a folder in which something is put is a file, unless the same commit removes it. */
async function checkFolders(session, tree, edits) {
    const gone = new Set(edits.filter(({ after }) => !after).map(({ path }) => path));
    const folders = new Set(edits.filter(({ after }) => after).flatMap(({ path }) => foldersAbove(path)));
    const wanted = [...folders];
    for (let i = 0; i < wanted.length; i += PATHS_PER_CALL) {
        for await (const { mode, path } of readTree(session, [tree, '--', ...wanted.slice(i, i + PATHS_PER_CALL)])) {
            if (mode !== '040000' && folders.has(path) && !gone.has(path)) {
                throw new InvalidChange(`${path} is a file, not a folder`);
            }
        }
    }
}
async function push(session, branch, { prepare, ...options }) {
    for (let attempt = 1;; attempt++) {
        const tip = await branch.refresh();
        const edits = await prepare(tip);
        await checkCurrent(session, tip, edits);
        const id = await makeCommit(session, tip, { ...options, edits });
        const ref = `refs/heads/${branch.name}`;
        const expected = `--force-with-lease=${ref}:${tip.number === 0 ? '' : tip.id}`;
        try {
            const call = { silenceMs: session.transferMs };
            await runGit(session, ['push', '--quiet', '--no-verify', expected, '--', session.location.url, `${id}:${ref}`], call);
            return { number: tip.number + 1, id };
        }
        catch (error) {
            if (!(error instanceof OutOfDate) || attempt >= ATTEMPTS)
                throw error;
        }
    }
}
/** Each path must be in the youngest commit as it was when the change was made. */
async function checkCurrent(session, tip, edits) {
    const there = await readEntries(session, treeish(tip), edits.map(({ path }) => path));
    const outdated = (path) => new OutOfDate(`${nameOf(session)}: ${path} has changed since, in ${tip.id} or before`);
    const touched = new Set(edits.map(({ path }) => path));
    for (const { path, before } of edits) {
        const now = there.get(path);
        if (now?.id !== before?.id || now?.mode !== before?.mode)
            throw outdated(path);
    }
    // Something has come into being below a path that is a file in the commit, or went away with its folder.
    for (const path of there.keys())
        if (!touched.has(path))
            throw outdated(path);
    try {
        await checkFolders(session, treeish(tip), edits);
    }
    catch (error) {
        throw error instanceof InvalidChange ? new OutOfDate(`${nameOf(session)}: ${error.message}`) : error;
    }
}
async function makeCommit(session, tip, { edits, message, marker, author }) {
    const tree = await treeWith(session, treeish(tip), edits);
    const by = readPerson(author ?? 'Millrace');
    const people = {
        GIT_AUTHOR_NAME: by.name,
        GIT_AUTHOR_EMAIL: by.email,
        GIT_COMMITTER_NAME: 'Millrace',
        GIT_COMMITTER_EMAIL: 'Millrace@localhost',
    };
    const parents = tip.number === 0 ? [] : ['-p', tip.id];
    const text = withTrailer(message, checkMarker(marker));
    const said = await runGit(session, ['commit-tree', tree, ...parents], { env: people, input: text });
    return said.toString('utf8').trim();
}
/** The tree with the edits, made in an index of its own. */
async function treeWith(session, tree, edits) {
    const env_2 = { stack: [], error: void 0, hasError: false };
    try {
        const folder = __addDisposableResource(env_2, await temporaryFolder(session.folder), true);
        const env = { GIT_INDEX_FILE: join(folder.path, 'index') };
        const none = '0'.repeat(40);
        // A name that is no UTF-8 was read with other characters in it, and would be written so.
        const unreadable = edits.find(({ path }) => path.includes('\ufffd'));
        if (unreadable)
            throw new InvalidChange(`the name ${unreadable.path} is not UTF-8`);
        // Removals first: a file may become a folder.
        const ordered = [...edits].sort((a, b) => Number(a.after !== undefined) - Number(b.after !== undefined));
        const input = ordered.map(({ path, after }) => `${after?.mode ?? '0'} ${after?.id ?? none}\t${path}\0`).join('');
        await runGit(session, ['read-tree', tree], { env });
        await runGit(session, ['update-index', '-z', '--index-info'], { env, input });
        const made = (await runGit(session, ['write-tree'], { env })).toString('utf8').trim();
        // Git leaves out names that it does not take, and says so to nobody who listens.
        const added = edits.filter(({ after }) => after !== undefined);
        const there = await readEntries(session, made, added.map(({ path }) => path));
        const missing = added.find(({ path, after }) => there.get(path)?.id !== after?.id);
        if (missing !== undefined)
            throw new InvalidChange(`git keeps the name ${missing.path} for itself`);
        return made;
    }
    catch (e_2) {
        env_2.error = e_2;
        env_2.hasError = true;
    }
    finally {
        const result_2 = __disposeResources(env_2);
        if (result_2)
            await result_2;
    }
}
