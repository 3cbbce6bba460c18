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
// What a task has changed in its workspace, as git stores it. The server walks the tree itself and copies what is new; git
// sees those copies alone, and of the workspace neither files nor attributes, filters or repositories in it.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './cache.js';
import { foldersAbove } from './check-changes.js';
import { InvalidChange, ToolFailed } from './errors.js';
import { runGit } from './git-tool.js';
import { readTree } from './git-tree.js';
import { NOT_OF_GIT } from './git-workspace.js';
import { readChanges } from './tree-memory.js';
import { takeContent, toBytes, toPath, toText } from './walk-tree.js';
import { treeOf } from './workspaces.js';
const SUBMODULE = '160000';
const FOLDER = '040000';
const MOST_ASKED = 500; // stays far below the limit of an argument list
/** What is different, and what to remember of the workspace once that is committed. */
export async function readEdits(session, { slot, baseline, base }) {
    const tree = treeOf(slot);
    const { memory, found, changes, administrations } = await readChanges(slot, tree, {
        ...NOT_OF_GIT,
        base: toBytes(base),
    });
    if (changes.length === 0 && administrations.length === 0)
        return { edits: [], memory };
    const there = await readBaseline(session, baseline, [...changes.map(({ path }) => path), ...administrations]);
    const isOfSubmodule = insideOf([...there].filter(([, blob]) => blob?.mode === SUBMODULE).map(([path]) => path));
    const mine = changes.filter(({ path }) => !isOfSubmodule(toText(path)));
    const added = mine.filter(({ path, after }) => after !== undefined && !there.has(toText(path)));
    const repositories = administrations.filter((path) => !isOfSubmodule(toText(path)));
    const isIgnored = await findIgnored(session, { tree, found }, [...added.map(({ path }) => path), ...repositories]);
    const nested = repositories.find((path) => !isIgnored(path));
    if (nested !== undefined)
        throw new InvalidChange(`${toText(nested)} is of a repository of its own and cannot be committed`);
    const wanted = mine.filter(({ path, after }) => after !== undefined && after.kind !== 'folder' && !isIgnored(path));
    const taken = await takeAll(session, tree, wanted.map(({ path }) => path));
    const edits = [];
    for (const [path, { stamp, kind, blob }] of taken) {
        memory.set(path, { kind, stamp });
        const before = there.get(toText(path));
        if (before?.id !== blob?.id || before?.mode !== blob?.mode)
            edits.push({ path: toPath(path), before, after: blob });
    }
    for (const { path } of mine) {
        if (taken.has(path))
            continue;
        memory.delete(path);
        const before = there.get(toText(path));
        // What is a folder now, or is gone, or was replaced while it was looked at.
        if (before !== undefined)
            edits.push({ path: toPath(path), before, after: undefined });
    }
    return { edits, memory };
}
/** What the baseline has at the paths, and submodules above them. */
async function readBaseline(session, baseline, paths) {
    const wanted = [...new Set(paths.map(toText).flatMap((path) => [path, ...foldersAbove(path)]))];
    const isWhole = wanted.length > MOST_ASKED || wanted.some((path) => path.includes('\ufffd'));
    const there = new Map();
    for await (const { mode, id, path } of readTree(session, isWhole ? ['-r', baseline] : [baseline, '--', ...wanted]))
        if (mode !== FOLDER)
            there.set(path, { mode, id });
    return there;
}
function insideOf(folders) {
    const all = new Set(folders);
    return (path) => {
        if (all.size === 0)
            return false;
        for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1))
            if (all.has(path.slice(0, at)))
                return true;
        return false;
    };
}
/**
 * Which of the paths the repository ignores. Git answers it in a tree that holds nothing but copies of the files named
 * `.gitignore`.
 */
async function findIgnored(session, { tree, found }, paths) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const rules = [...found].filter(([path, { kind }]) => kind === 'file' && /(^|\/)\.gitignore$/.test(path));
        if (rules.length === 0 || paths.length === 0)
            return () => false;
        const folder = __addDisposableResource(env_1, await temporaryFolder(session.folder), true);
        for (const [path] of rules) {
            const copy = join(folder.path, toPath(path));
            await mkdir(dirname(copy), { recursive: true });
            await takeContent(tree, path, copy);
        }
        // Names are taken as they are here, or not at all: what begins with `./` means nothing else.
        const literal = { GIT_LITERAL_PATHSPECS: '0' };
        const env = { GIT_WORK_TREE: folder.path, GIT_INDEX_FILE: join(folder.path, '.index'), ...literal };
        const input = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1');
        try {
            const said = await runGit(session, ['check-ignore', '--no-index', '--stdin', '-z'], { env, input });
            const ignored = new Set(said.toString('latin1').split('\0'));
            return (path) => ignored.has(`./${path}`);
        }
        catch (error) {
            if (error instanceof ToolFailed && error.exitCode === 1)
                return () => false; // none is
            throw error;
        }
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
/** Stores what is at the paths now, in the mirror; what has gone away is left out. */
async function takeAll(session, tree, paths) {
    const env_2 = { stack: [], error: void 0, hasError: false };
    try {
        const folder = __addDisposableResource(env_2, await temporaryFolder(session.folder), true);
        const taken = [];
        for (const [i, path] of paths.entries()) {
            const file = join(folder.path, `content-${i}`);
            const one = await takeContent(tree, path, file);
            if (one === undefined)
                continue;
            const mode = one.kind === 'link' ? '120000' : one.isExecutable ? '100755' : '100644';
            taken.push({ path, file, mode, kind: one.kind, stamp: one.stamp });
        }
        const ids = await storeBlobs(session, taken.map(({ file }) => file));
        return new Map(taken.map(({ path, mode, kind, stamp }, i) => [path, { kind, stamp, blob: { mode, id: ids[i] ?? '' } }]));
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
/** The ids of the contents of the files, which are the server's own, in their order. */
export async function storeBlobs(session, files) {
    if (files.length === 0)
        return [];
    if (files.some((file) => file.includes('\n')))
        throw new InvalidChange('the name of a file to put holds a line feed');
    const input = files.map((file) => `${file}\n`).join('');
    const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
    const said = await runGit(session, args, { input, silenceMs: session.transferMs });
    return said.toString('utf8').split('\n');
}
