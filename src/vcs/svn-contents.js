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
// Many files with few programs. `svn cat` writes one file after another without a mark between them, so their sizes,
// which are known, say where each ends; what has another length than is known is asked for alone.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './cache.js';
import { Intake, inChunks, inPieces } from './contents.js';
import { PathNotFound } from './errors.js';
import { below, decodePath, insidePath } from './location.js';
import { decodeValue } from './svn-log.js';
import { readSvn, runSvn, streamSvn } from './svn-tool.js';
import { readFacts, target } from './svn-tree.js';
import { OutputTooLarge } from './tool.js';
import { textOf } from './xml.js';
const FILES = 200; // of one call: what they add to its arguments is far below what a system allows
const TOGETHER_BYTES = 4 * 1024 * 1024; // are kept in memory until their lengths are known to be right
const TARGETS = 5_000;
export async function* findPaths(session, { base, revision }, paths) {
    for (const piece of inPieces(paths, TARGETS)) {
        const env_1 = { stack: [], error: void 0, hasError: false };
        try {
            const folder = __addDisposableResource(env_1, await temporaryFolder(session.folder), true);
            const file = join(folder.path, 'targets');
            await writeFile(file, piece.map((path) => `${target(base, insidePath(path), revision)}\n`).join(''));
            try {
                for await (const element of readSvn(session, ['info', '--targets', file], ['entry'])) {
                    const path = below(decodePath(base), decodePath(textOf(element, 'url') ?? ''));
                    if (path !== undefined)
                        yield { ...readFacts(element, element.attributes['size']), path };
                }
            }
            catch (error) {
                // Some are missing, and that is an answer too; the rest was told before.
                if (!(error instanceof PathNotFound))
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
}
export async function* readContents(session, at, entries) {
    const longest = (entry) => Math.max(entry.size ?? 0, 300 * entry.path.length);
    for await (const chunk of inChunks(entries, { count: FILES, weight: TOGETHER_BYTES, weigh: longest })) {
        const properties = await readAllProperties(session, at, chunk);
        const known = chunk.map((entry) => ({ ...entry, properties: properties.get(entry.path) ?? {} }));
        // A style that names the ends of lines may lengthen a file on its way here, the others only shorten it: so among
        // the others the sum is right only when each length is.
        const plain = known.filter(({ size, properties: { 'svn:eol-style': style = 'native' } }) => {
            return style === 'native' && size !== undefined && size <= TOGETHER_BYTES;
        });
        const contents = await readTogether(session, at, plain);
        if (contents)
            yield* contents;
        const others = contents ? known.filter((file) => !plain.includes(file)) : known;
        for (const file of others)
            yield await readAlone(session, at, file);
    }
}
async function readAllProperties(session, { base, revision }, chunk) {
    const all = new Map();
    const targets = chunk.map(({ path }) => target(base, path, revision));
    for await (const element of readSvn(session, ['proplist', '--verbose', ...targets], ['target'])) {
        const path = below(decodePath(base), decodePath(element.attributes['path'] ?? ''));
        const named = element.children.map((property) => [property.attributes['name'] ?? '', decodeValue(property)]);
        if (path !== undefined)
            all.set(path, Object.fromEntries(named));
    }
    return all;
}
/** The files cut out of one answer; undefined when it is not as long as they are together. */
async function readTogether(session, { base, revision, headBytes }, files) {
    if (files.length === 0)
        return [];
    const size = files.reduce((sum, file) => sum + (file.size ?? 0), 0);
    const bytes = await catFiles(session, files.map(({ path }) => target(base, path, revision)), size);
    if (bytes?.length !== size)
        return undefined;
    let from = 0;
    return files.map((file) => {
        const intake = new Intake(headBytes);
        intake.add(bytes.subarray(from, from + (file.size ?? 0)));
        from += file.size ?? 0;
        return toContent(file, intake);
    });
}
async function catFiles(session, targets, maxBytes) {
    try {
        return await runSvn(session, ['svn', 'cat', '--ignore-keywords', ...targets], { maxBytes });
    }
    catch (error) {
        if (error instanceof OutputTooLarge)
            return undefined;
        throw error;
    }
}
async function readAlone(session, { base, revision, headBytes }, file) {
    const intake = new Intake(headBytes);
    const args = ['cat', '--ignore-keywords', target(base, file.path, revision)];
    for await (const piece of streamSvn(session, args))
        intake.add(piece);
    return toContent(file, intake);
}
function toContent({ path, kind, lastChanged, properties }, intake) {
    return { path, kind, properties, ...(lastChanged === undefined ? {} : { lastChanged }), ...intake.end() };
}
