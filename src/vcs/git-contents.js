import { Intake, inChunks, inPieces } from './contents.js';
import { ToolFailed } from './errors.js';
import { kindOfMode } from './git-log.js';
import { streamGit } from './git-tool.js';
import { describe, readTree, treeish } from './git-tree.js';
import { below, insidePath, joinPath } from './location.js';
const ENTRIES = 500; // of one call: its arguments stay below what a system allows, and its start costs nothing beside them
const ARGUMENT_BYTES = 500_000;
/** What lies at the paths. Git looks at each entry of a folder on the way for each path, so they are asked in pieces. */
export async function* findPaths(session, { base, revision }, paths) {
    const full = paths.map((path) => joinPath(base, insidePath(path))).filter((path) => path !== '');
    const wanted = new Set(full);
    for (const piece of inPieces(full, ENTRIES)) {
        for await (const entry of readTree(session, [treeish(revision), '--', ...piece])) {
            if (wanted.has(entry.path))
                yield describe(entry, below(base, entry.path) ?? '');
        }
    }
}
export async function* readContents(session, at, entries) {
    const measure = { count: ENTRIES, weight: ARGUMENT_BYTES, weigh: ({ path }) => 4 * path.length };
    for await (const chunk of inChunks(entries, measure)) {
        const known = await nameAll(session, at, chunk);
        const files = known.filter(({ kind }) => kind !== 'submodule');
        for (const { path, kind, object } of known) {
            if (kind !== 'submodule')
                continue;
            yield { path, kind, properties: { mode: object?.mode ?? '' }, head: Buffer.alloc(0) };
        }
        yield* readObjects(session, files, at.headBytes);
    }
}
/** The entries with what git calls their content: those of `list` and `find` have it. */
async function nameAll(session, at, chunk) {
    const known = chunk.filter(({ object }) => object);
    const unknown = chunk.filter(({ object }) => !object).map(({ path }) => path);
    for await (const entry of findPaths(session, at, unknown))
        known.push(entry);
    return known;
}
async function* readObjects(session, files, headBytes) {
    if (files.length === 0)
        return;
    const input = files.map(({ object }) => `${object?.id}\n`).join('');
    const reader = new BatchReader(streamGit(session, ['cat-file', '--batch'], { input }));
    try {
        for (const { path, object } of files) {
            const mode = object?.mode ?? '';
            yield { path, kind: kindOfMode(mode), properties: { mode }, ...(await reader.next(headBytes)) };
        }
        await reader.end();
    }
    finally {
        await reader.close();
    }
}
/** What `git cat-file --batch` says: for each object a line with its size, the bytes, and a line feed. */
class BatchReader {
    #pieces;
    #rest = Buffer.alloc(0);
    constructor(pieces) {
        this.#pieces = pieces;
    }
    async next(headBytes) {
        const line = await this.#line();
        const [, type, size] = line.split(' ');
        if (type !== 'blob')
            throw new ToolFailed('git', 0, `git cat-file says "${line}"`);
        const intake = new Intake(headBytes);
        for (let left = Number(size); left > 0;) {
            if (this.#rest.length === 0)
                await this.#more();
            const bytes = this.#rest.subarray(0, left);
            intake.add(bytes);
            left -= bytes.length;
            this.#rest = this.#rest.subarray(bytes.length);
        }
        if (this.#rest.length === 0)
            await this.#more();
        this.#rest = this.#rest.subarray(1);
        return intake.end();
    }
    /** The program ends by itself now, and its exit status is looked at. */
    async end() {
        await this.#pieces.next();
    }
    async close() {
        await this.#pieces.return();
    }
    async #line() {
        let at = this.#rest.indexOf(10);
        while (at < 0) {
            await this.#more();
            at = this.#rest.indexOf(10);
        }
        const line = this.#rest.toString('latin1', 0, at);
        this.#rest = this.#rest.subarray(at + 1);
        return line;
    }
    async #more() {
        const { value, done } = await this.#pieces.next();
        if (done || !value)
            throw new ToolFailed('git', 0, 'git cat-file ended before it had said everything');
        this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    }
}
