import { HistoryRewritten, InvalidChange, PathNotFound, RevisionNotFound, ToolFailed } from './errors.js';
import { commitChanges, commitSlot } from './git-commit.js';
import { findPaths, readContents } from './git-contents.js';
import { readLog, rewritten } from './git-log.js';
import { askDefaultBranch, askTip, checkEmpty, ensureMirror, fetchBranch, identityOfMirror, isDamage, remakeMirror, } from './git-mirror.js';
import { runGit, streamGit } from './git-tool.js';
import { listFolder, readDiff, readFile, readProperties, statPath } from './git-tree.js';
import { gitFiller, objectsOf } from './git-workspace.js';
import { checkBranch } from './location.js';
import { nameOf, sessionWith } from './session.js';
import { isLive, takeWorkspace } from './workspaces.js';
const READ_BYTES = 64 * 1024 * 1024;
const NOTHING = { number: 0, id: '0'.repeat(40) };
export class GitRepository {
    type = 'git';
    #session;
    #memory;
    constructor(session, memory = {}) {
        this.#session = session;
        this.#memory = memory;
    }
    withSignal(signal) {
        return new GitRepository(sessionWith(this.#session, signal), this.#memory);
    }
    async identity() {
        const { number } = await this.youngest();
        return number === 0 ? undefined : (await this.revision(1)).id;
    }
    async youngest() {
        await ensureMirror(this.#session);
        const branch = await this.#branch();
        const id = await askTip(this.#session, branch);
        const known = this.#memory.youngest;
        if (id !== undefined && id === known?.id)
            return known;
        if (id === undefined) {
            await checkEmpty(this.#session, branch);
            return NOTHING;
        }
        const tip = await fetchBranch(this.#session, branch);
        const number = await this.#count(tip);
        this.#memory.youngest = { number, id: tip };
        return this.#memory.youngest;
    }
    async revision(number) {
        const last = await this.youngest();
        if (number === 0)
            return NOTHING;
        if (number === last.number)
            return last;
        if (!Number.isSafeInteger(number) || number < 1 || number > last.number) {
            throw new RevisionNotFound(`${nameOf(this.#session)} has no revision ${number}; the youngest is ${last.number}`);
        }
        return { number, id: await this.#backFrom(last.id, last.number - number) };
    }
    async *log(range = {}) {
        const { after, to } = range;
        if (after && to && to.number <= after.number)
            return;
        const end = to ?? (await this.youngest());
        if (after && after.id === end.id)
            return;
        await this.#require(end);
        // A known commit that the repository does not have either was part of a history that is gone.
        if (after && after.number > 0 && !(await this.#find(after)))
            throw rewritten(this.#session, after, end);
        yield* this.#streaming(readLog(this.#session, { ...range, to: end, base: this.#session.path }));
    }
    async *list(path, revision, { recursive = false } = {}) {
        await this.#require(revision);
        yield* this.#streaming(listFolder(this.#session, { ...this.#at(path, revision), isRecursive: recursive }));
    }
    stat(path, revision) {
        return this.#with(revision, () => statPath(this.#session, this.#at(path, revision)));
    }
    async *find(paths, revision) {
        await this.#require(revision);
        yield* this.#streaming(findPaths(this.#session, { base: this.#session.path, revision }, paths));
    }
    async *contents(entries, revision, { headBytes = 0 } = {}) {
        await this.#require(revision);
        const at = { base: this.#session.path, revision, headBytes };
        yield* this.#streaming(readContents(this.#session, at, entries));
    }
    read(path, revision, { maxBytes = READ_BYTES } = {}) {
        return this.#with(revision, () => readFile(this.#session, { ...this.#at(path, revision), maxBytes }));
    }
    properties(path, revision) {
        return this.#with(revision, () => readProperties(this.#session, this.#at(path, revision)));
    }
    async *diff(from, to) {
        await this.#require(from);
        await this.#require(to);
        yield* this.#streaming(readDiff(this.#session, { base: this.#session.path, from, to }));
    }
    async workspace({ revision, key = '' }) {
        await this.#require(revision);
        const { path } = this.#session;
        if (path !== '' && (await this.stat('', revision))?.kind !== 'folder') {
            throw new PathNotFound(`there is no folder ${path} in ${revision.id}`);
        }
        const filler = gitFiller(this.#session, await this.#branch());
        return this.#healing(() => takeWorkspace(this.#session, filler, { revision, key, path, needs: [objectsOf(this.#session)] }));
    }
    async commit(workspace, options) {
        if (!isLive(workspace))
            throw new InvalidChange('the workspace was given back already');
        const committed = await commitSlot(this.#session, await this.#tip(), { ...options, slot: workspace.slot });
        return committed && this.#remember(committed);
    }
    async commitChanges(options) {
        await ensureMirror(this.#session);
        if (options.base)
            await this.#require(options.base);
        return this.#remember(await commitChanges(this.#session, await this.#tip(), options));
    }
    async findMarker(marker, { since } = {}) {
        for await (const { number, id, marks } of this.log({ ...(since ? { after: since } : {}), withChanges: false })) {
            if (marks['cause'] === marker)
                return { number, id };
        }
        return undefined;
    }
    async #tip() {
        return { name: await this.#branch(), base: this.#session.path, refresh: () => this.youngest() };
    }
    #remember(committed) {
        this.#memory.youngest = committed;
        return committed;
    }
    #at(path, revision) {
        return { base: this.#session.path, path, revision };
    }
    async #branch() {
        this.#memory.branch ??= checkBranch(await askDefaultBranch(this.#session));
        return this.#memory.branch;
    }
    /** The number of a commit: how many first parents lead to it, counted from the one that is known already if they do. */
    async #count(tip) {
        const known = this.#memory.youngest;
        if (known && (await this.#has(known))) {
            let count = 0;
            let last = '';
            for await (const line of this.#chain(tip, known.id)) {
                count += 1;
                last = line;
            }
            if (last.split(' ')[1] === known.id)
                return known.number + count;
        }
        const count = Number((await runGit(this.#session, ['rev-list', '--count', '--first-parent', tip])).toString('utf8'));
        const { identity } = this.#session;
        if (identity === undefined)
            return count;
        const first = await this.#backFrom(tip, count - 1);
        if (identity === first)
            return count;
        throw new HistoryRewritten(identity, first, nameOf(this.#session), { isOtherRepository: true });
    }
    async #backFrom(tip, steps) {
        const args = ['rev-list', '--first-parent', '--max-count=1', `--skip=${steps}`, tip];
        return (await runGit(this.#session, args)).toString('utf8').trim();
    }
    /** The commits after `known`, youngest first, each with its parents. */
    async *#chain(tip, known) {
        let rest = '';
        for await (const piece of streamGit(this.#session, ['rev-list', '--first-parent', '--parents', tip, `^${known}`])) {
            const lines = (rest + piece.toString('latin1')).split('\n');
            rest = lines.pop() ?? '';
            yield* lines;
        }
    }
    /** Makes sure that the mirror has the commit, and everything it stands on. */
    async #require(revision) {
        if (await this.#find(revision))
            return;
        throw new RevisionNotFound(`${nameOf(this.#session)} has no commit ${revision.id}`);
    }
    async #find(revision) {
        if (await this.#has(revision))
            return true;
        await fetchBranch(this.#session, await this.#branch());
        return this.#has(revision);
    }
    async #has({ number, id }) {
        if (number === 0)
            return true;
        if (!/^[0-9a-f]{40}$/.test(id))
            throw new RevisionNotFound(`"${id}" is no commit id`);
        const look = async () => {
            await runGit(this.#session, ['cat-file', '-e', `${id}^{commit}`]);
            return true;
        };
        try {
            return await this.#healing(look);
        }
        catch (error) {
            if (error instanceof ToolFailed)
                return false;
            throw error;
        }
    }
    async #with(revision, read) {
        await this.#require(revision);
        return this.#healing(read);
    }
    /** Runs it again on a new mirror when the old one turns out to be damaged. */
    async #healing(run) {
        const mirror = await identityOfMirror(this.#session);
        try {
            return await run();
        }
        catch (error) {
            if (!isDamage(error))
                throw error;
            await remakeMirror(this.#session, await this.#branch(), mirror);
            return await run();
        }
    }
    /** The same for what was answered in part already: the caller has to ask again, and then finds a new mirror. */
    async *#streaming(pieces) {
        const mirror = await identityOfMirror(this.#session);
        try {
            yield* pieces;
        }
        catch (error) {
            if (isDamage(error))
                await remakeMirror(this.#session, await this.#branch(), mirror);
            throw error;
        }
    }
}
