import { HistoryRewritten, InvalidChange, OutOfDate, RevisionNotFound } from './errors.js';
import { decodePath, encodePath, joinPath } from './location.js';
import { collect, } from './repository.js';
import { nameOf, sessionWith } from './session.js';
import { commitChanges } from './svn-changes.js';
import { commitWorkspace } from './svn-commit.js';
import { findPaths, readContents } from './svn-contents.js';
import { readLog } from './svn-log.js';
import { readSvn } from './svn-tool.js';
import { listFolder, readDiff, readFile, readProperties, statPath } from './svn-tree.js';
import { svnFiller } from './svn-workspace.js';
import { isLive, takeWorkspace } from './workspaces.js';
import { child, textOf } from './xml.js';
const READ_BYTES = 64 * 1024 * 1024;
const ATTEMPTS = 5; // of a commit without a base, when others commit to the same files meanwhile
export class SvnRepository {
    type = 'svn';
    #session;
    #memory;
    constructor(session, memory = {}) {
        this.#session = session;
        this.#memory = memory;
    }
    withSignal(signal) {
        return new SvnRepository(sessionWith(this.#session, signal), this.#memory);
    }
    async identity() {
        return (await this.#origin()).uuid;
    }
    async youngest() {
        const { root } = await this.#origin();
        const { uuid, number } = await this.#ask(root);
        this.#check(uuid);
        return { number, id: String(number) };
    }
    async revision(number) {
        const { number: last } = await this.youngest();
        if (Number.isSafeInteger(number) && number >= 0 && number <= last)
            return { number, id: String(number) };
        throw new RevisionNotFound(`${nameOf(this.#session)} has no revision ${number}; the youngest is ${last}`);
    }
    async *log(range = {}) {
        const { root, basePath } = await this.#origin();
        const youngest = async () => (await this.youngest()).number;
        yield* readLog(this.#session, { ...range, root, base: basePath, youngest });
    }
    async *list(path, revision, { recursive = false } = {}) {
        const { base } = await this.#origin();
        yield* listFolder(this.#session, base, { path, revision, isRecursive: recursive });
    }
    async stat(path, revision) {
        return statPath(this.#session, (await this.#origin()).base, { path, revision });
    }
    async *find(paths, revision) {
        yield* findPaths(this.#session, { base: (await this.#origin()).base, revision }, paths);
    }
    async *contents(entries, revision, { headBytes = 0 } = {}) {
        const { base } = await this.#origin();
        yield* readContents(this.#session, { base, revision, headBytes }, entries);
    }
    async read(path, revision, { maxBytes = READ_BYTES } = {}) {
        return readFile(this.#session, (await this.#origin()).base, { path, revision, maxBytes });
    }
    async properties(path, revision) {
        return readProperties(this.#session, (await this.#origin()).base, { path, revision });
    }
    async *diff(from, to) {
        yield* readDiff(this.#session, (await this.#origin()).base, { from, to });
    }
    async workspace({ revision, key = '' }) {
        const { base } = await this.#origin();
        return takeWorkspace(this.#session, svnFiller(this.#session, base), { revision, key, path: '', needs: [] });
    }
    async commit(workspace, options) {
        if (!isLive(workspace))
            throw new InvalidChange('the workspace was given back already');
        await this.#origin(); // still the same repository
        return commitWorkspace(this.#session, workspace, options);
    }
    async commitChanges(options) {
        const { base } = await this.#origin();
        for (let attempt = 1;; attempt++) {
            try {
                return await commitChanges(this.#session, base, { ...options, base: options.base ?? (await this.youngest()) });
            }
            catch (error) {
                const mayTryAgain = error instanceof OutOfDate && options.base === undefined && attempt < ATTEMPTS;
                if (!mayTryAgain)
                    throw error;
            }
        }
    }
    async findMarker(marker, { since } = {}) {
        for await (const { number, id, marks } of this.log({ ...(since ? { after: since } : {}), withChanges: false })) {
            if (marks['cause'] === marker)
                return { number, id };
        }
        return undefined;
    }
    async #origin() {
        const { location, path } = this.#session;
        if (this.#memory.origin)
            return this.#memory.origin;
        const { uuid, root, relative } = await this.#ask(location.url);
        const basePath = joinPath(relative, path);
        const base = basePath === '' ? root : `${root}/${encodePath(basePath)}`;
        this.#check(uuid);
        this.#memory.origin = { uuid, root, base, basePath };
        return this.#memory.origin;
    }
    async #ask(url) {
        const [element] = await collect(readSvn(this.#session, ['info', `${url}@`], ['entry']));
        const repository = element && child(element, 'repository');
        return {
            uuid: (repository && textOf(repository, 'uuid')) ?? '',
            root: (repository && textOf(repository, 'root')) ?? '',
            relative: decodePath((element && textOf(element, 'relative-url'))?.replace(/^\^\//, '') ?? ''),
            number: Number(element?.attributes['revision']),
        };
    }
    /** The same address may hold another repository tomorrow, with other revisions under the same numbers. */
    #check(uuid) {
        const known = this.#session.identity ?? this.#memory.origin?.uuid ?? uuid;
        if (known === uuid)
            return;
        const [was, is] = [`repository ${known}`, `repository ${uuid}`];
        throw new HistoryRewritten(was, is, nameOf(this.#session), { isOtherRepository: true });
    }
}
