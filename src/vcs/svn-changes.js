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
// One revision without a working copy. `svnmucc` takes a list of actions and makes one transaction of them; the base
// revision decides what is out of date.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './cache.js';
import { checkChanges, contentFile, foldersAbove } from './check-changes.js';
import { InvalidChange, PathNotFound, ToolFailed } from './errors.js';
import { below, decodePath, encodePath } from './location.js';
import { describeCommit, readCommitted } from './svn-commit.js';
import { kindOf } from './svn-log.js';
import { committing, readSvn, runSvn } from './svn-tool.js';
import { target } from './svn-tree.js';
import { textOf } from './xml.js';
export async function commitChanges(session, base, options) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const changes = checkChanges('svn', options.changes);
        const kinds = await readKinds(session, base, changes, options.base);
        const folder = __addDisposableResource(env_1, await temporaryFolder(session.folder), true);
        const actions = await writeActions({ changes, kinds, base, folder: folder.path });
        const file = join(folder.path, 'actions');
        if (actions.some((word) => word.includes('\n')))
            throw new InvalidChange('a path holds a line feed');
        await writeFile(file, actions.map((word) => `${word}\n`).join(''));
        const described = await describeCommit(session, options, folder.path);
        const args = [...described, '--revision', String(options.base.number), '--extra-args', file];
        const limits = { silenceMs: session.transferMs };
        const said = await committing(() => runSvn(session, ['svnmucc', ...args], limits));
        const committed = readCommitted(said, /^r(\d+) committed/m);
        if (!committed)
            throw new ToolFailed('svnmucc', 0, `it does not say what it committed: ${said.toString('utf8')}`);
        return committed;
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
/** What the paths and the folders above them are in the base, asked with one program for all. */
async function readKinds(session, base, changes, revision) {
    const env_2 = { stack: [], error: void 0, hasError: false };
    try {
        const paths = new Set(changes.flatMap(({ path }) => [...foldersAbove(path), path]));
        const kinds = new Map();
        const folder = __addDisposableResource(env_2, await temporaryFolder(session.folder), true);
        const file = join(folder.path, 'targets');
        await writeFile(file, [...paths].map((path) => `${target(base, path, revision)}\n`).join(''));
        try {
            for await (const element of readSvn(session, ['info', '--targets', file], ['entry'])) {
                const path = below(decodePath(base), decodePath(textOf(element, 'url') ?? ''));
                if (path !== undefined)
                    kinds.set(path, kindOf(element.attributes['kind']));
            }
        }
        catch (error) {
            // Some are missing, and that is an answer too; the rest was told before.
            if (!(error instanceof PathNotFound))
                throw error;
        }
        return kinds;
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
/** Deletes first, then folders from above to below, then files: so each finds its place as it needs it. */
async function writeActions({ changes, kinds, base, folder }) {
    const deleted = new Set(changes.filter(({ type }) => type === 'delete').map(({ path }) => path));
    const isGone = (path) => deleted.has(path) || foldersAbove(path).some((folder) => deleted.has(folder));
    const kindNow = (path) => (isGone(path) ? undefined : kinds.get(path));
    const url = (path) => `${base}/${encodePath(path)}`;
    const actions = [];
    for (const path of deleted) {
        if (!kinds.has(path))
            throw new PathNotFound(`${path} is to be deleted, but does not exist`);
        actions.push('rm', url(path));
    }
    const rest = changes.filter(({ type }) => type !== 'delete');
    const folders = new Set(rest.flatMap(({ path, type }) => [...foldersAbove(path), ...(type === 'mkdir' ? [path] : [])]));
    for (const path of [...folders].sort((a, b) => a.split('/').length - b.split('/').length)) {
        if (kindNow(path) === 'file')
            throw new InvalidChange(`${path} is a file, not a folder`);
        if (kindNow(path) === undefined)
            actions.push('mkdir', url(path));
    }
    for (const [i, change] of rest.entries()) {
        if (change.type !== 'put')
            continue;
        if (kindNow(change.path) === 'folder')
            throw new InvalidChange(`${change.path} is a folder, not a file`);
        actions.push('put', await contentFile(change.content, join(folder, `content-${i}`)), url(change.path));
        if (change.isExecutable === true)
            actions.push('propset', 'svn:executable', '*', url(change.path));
        if (change.isExecutable === false && kindNow(change.path)) {
            actions.push('propdel', 'svn:executable', url(change.path));
        }
    }
    if (actions.length === 0)
        throw new InvalidChange('the folders that are to be made exist already');
    return actions;
}
