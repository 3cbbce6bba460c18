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
// A slot holds two trees: `base`, a working copy that only the server touches, and `tree`, a copy of it for the task, which
// has an administration of its own. Subversion runs in `base` alone: what a task writes into `.svn` could make it move files
// anywhere.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { applyChanges } from './apply-changes.js';
import { temporaryFolder, throwAway } from './cache.js';
import { InvalidChange } from './errors.js';
import { collect } from './repository.js';
import { readSvn, runSvn } from './svn-tool.js';
import { target } from './svn-tree.js';
import { changesOf, isAsLeft, readChanges, rememberCommit, rememberTree } from './tree-memory.js';
import { toText, walkTree } from './walk-tree.js';
import { treeOf } from './workspaces.js';
import { child } from './xml.js';
/** Fills slots with working copies of `from`. Externals are not followed: they would bring in other repositories. */
export function svnFiller(session, from) {
    const limits = { silenceMs: session.transferMs };
    const run = (...args) => runSvn(session, ['svn', ...args], limits);
    return {
        async create(slot, revision) {
            await run('checkout', '--quiet', '--ignore-externals', ...at(revision), target(from, '', revision), baseOf(slot));
            await copyTree(slot);
        },
        async refresh(slot, revision) {
            const isClean = await isAsLeft(slot, treeOf(slot));
            const before = await walkTree(baseOf(slot), { isWhole: true });
            if ((await readStatus(session, slot, ['--no-ignore'])).length > 0)
                throw new Error('the working copy is not clean');
            // Not `update`: the base may be a new folder of the old name.
            const wanted = ['--ignore-externals', '--ignore-ancestry', '--set-depth', 'infinity', ...at(revision)];
            // Of its last argument `switch` takes an @ as it is.
            await run('switch', '--quiet', '--accept', 'theirs-full', ...wanted, target(from, '', revision), baseOf(slot));
            const rest = await readStatus(session, slot, ['--no-ignore']);
            if (rest.length > 0)
                throw new Error(`the working copy cannot be cleaned: ${rest[0]?.path} is ${rest[0]?.item}`);
            if (!isClean) {
                await throwAway(session.folder, treeOf(slot));
                return copyTree(slot);
            }
            await copyChanges(session, slot, before.found);
        },
    };
}
/** The working copy that no task sees. */
export const baseOf = (slot) => join(slot, 'base');
async function copyTree(slot) {
    await promisify(execFile)('cp', ['-a', '--', baseOf(slot), treeOf(slot)], { env: { PATH: '/usr/bin:/bin' } });
    await rememberTree(slot, treeOf(slot));
}
const at = ({ number }) => ['--revision', String(number)];
/** Brings the tree, which is as it was filled, to what the base is now. */
async function copyChanges(session, slot, before) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const { found } = await walkTree(baseOf(slot), { isWhole: true });
        const drafts = __addDisposableResource(env_1, await temporaryFolder(session.folder), true);
        const changes = changesOf(before, found);
        await applyChanges(changes, { from: baseOf(slot), to: treeOf(slot), drafts: drafts.path });
        await rememberTree(slot, treeOf(slot));
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
/**
 * Brings the base to what the task has made of the tree: files, links and folders, and no administration. Returns where
 * there are links in it.
 */
export async function takeOver(session, slot) {
    const env_2 = { stack: [], error: void 0, hasError: false };
    try {
        const { memory, found, changes, administrations } = await readChanges(slot, treeOf(slot), {});
        const drafts = __addDisposableResource(env_2, await temporaryFolder(session.folder), true);
        const copied = await applyChanges(changes, { from: treeOf(slot), to: baseOf(slot), drafts: drafts.path });
        for (const { path, after } of changes) {
            const now = copied.get(path) ?? (after?.kind === 'folder' ? found.get(path) : undefined);
            if (now === undefined)
                memory.delete(path);
            else
                memory.set(path, now);
        }
        await rememberCommit(slot, memory);
        if (administrations.length > 0)
            await refuseRepositories(session, slot, administrations);
        const links = [...found].filter(([, { kind }]) => kind === 'link');
        return new Set(links.map(([path]) => join(baseOf(slot), toText(path))));
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
/** Of repositories inside the tree only those may stay that Subversion is told to ignore. */
async function refuseRepositories(session, slot, administrations) {
    const status = await readStatus(session, slot, ['--no-ignore']);
    const ignored = status.filter(({ item }) => item === 'ignored').map(({ path }) => `${path}/`);
    const nested = administrations
        .map(toText)
        .find((path) => !ignored.some((folder) => join(baseOf(slot), path).startsWith(folder)));
    if (nested === undefined)
        return;
    throw new InvalidChange(`${nested} is of a repository of its own and cannot be committed`);
}
/** Everything in the working copy that is not as in the repository. */
export async function readStatus(session, slot, options = []) {
    const elements = await collect(readSvn(session, ['status', '--ignore-externals', ...options, `${baseOf(slot)}@`], ['entry']));
    return elements.map(readEntry).filter(({ item }) => item !== 'external');
}
function readEntry(element) {
    const { item = '', 'tree-conflicted': tree } = child(element, 'wc-status')?.attributes ?? {};
    const isConflicted = tree === 'true' || item === 'conflicted' || item === 'incomplete';
    return { path: element.attributes['path'] ?? '', item, isConflicted };
}
