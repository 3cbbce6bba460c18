import { HistoryRewritten, RevisionNotFound } from './errors.js';
import { below } from './location.js';
import { MARK_PREFIX } from './message.js';
import { nameOf } from './session.js';
import { readSvn } from './svn-tool.js';
import { child, textOf } from './xml.js';
export const MAX_CHANGES = 100_000; // of one revision; about 20 MB of memory
// Every revision is answered, also one that changed nothing below the base: numbers have no gaps. Therefore the root is
// asked; asked about a folder, Subversion leaves out what did not touch it.
export async function* readLog(session, log) {
    const { after = { number: 0, id: '0' }, to, limit, withChanges = true, maxChanges = MAX_CHANGES } = log;
    if (to && to.number <= after.number)
        return;
    const properties = ['svn:author', 'svn:date', 'svn:log', `${MARK_PREFIX}cause`, `${MARK_PREFIX}author`];
    const args = [
        'log',
        ...(withChanges ? ['--verbose'] : []),
        ...properties.flatMap((name) => ['--with-revprop', name]),
        // The known revision is asked for as well: its absence is what tells a repository that was set back.
        ...(limit === undefined ? [] : ['--limit', String(limit + 1)]),
        '--revision',
        `${after.number}:${to?.number ?? 'HEAD'}`,
        `${log.root}@`,
    ];
    let changes = [];
    let isCut = false;
    try {
        for await (const element of readSvn(session, args, ['path', 'logentry'])) {
            if (element.name === 'path') {
                const change = readChange(element, log.base);
                if (change && changes.length < maxChanges)
                    changes.push(change);
                else if (change)
                    isCut = true;
                continue;
            }
            const number = Number(element.attributes['revision']);
            if (number !== after.number)
                yield { number, id: String(number), ...readFacts(element), changes, isCut };
            changes = [];
            isCut = false;
        }
    }
    catch (error) {
        if (error instanceof RevisionNotFound)
            await judgeMissing(session, log, error);
        throw error;
    }
}
async function judgeMissing(session, { after, youngest }, error) {
    const last = await youngest();
    if (after && last < after.number) {
        throw new HistoryRewritten(`revision ${after.number}`, `revision ${last}, the youngest,`, nameOf(session));
    }
    throw error;
}
function readFacts(element) {
    const author = textOf(element, 'author');
    const date = textOf(element, 'date');
    return {
        ...(author === undefined ? {} : { author }),
        ...(date === undefined ? {} : { date: new Date(date) }),
        message: textOf(element, 'msg') ?? '',
        marks: readMarks(element),
    };
}
function readMarks(element) {
    const properties = child(element, 'revprops')?.children ?? [];
    return Object.fromEntries(properties
        .filter(({ attributes: { name = '' } }) => name.startsWith(MARK_PREFIX))
        .map((property) => [(property.attributes['name'] ?? '').slice(MARK_PREFIX.length), decodeValue(property)]));
}
/** Values that XML cannot hold come encoded. */
export function decodeValue({ attributes, text }) {
    return attributes['encoding'] === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text;
}
function readChange({ attributes, text }, base) {
    const path = text.slice(1);
    const inside = below(base, path);
    // What happens to a folder above the base happens to the base.
    if (inside === undefined && below(path, base) === undefined)
        return undefined;
    const action = attributes['action'];
    const { 'copyfrom-path': from, 'copyfrom-rev': number } = attributes;
    if (inside === undefined)
        return action === 'M' ? undefined : { path: '', action, kind: 'folder' };
    return {
        path: inside,
        action,
        kind: kindOf(attributes['kind']),
        ...(from === undefined
            ? {}
            : { copyFrom: { path: below(base, from.slice(1)) ?? `^${from}`, number: Number(number) } }),
    };
}
export const kindOf = (kind) => (kind === 'dir' ? 'folder' : 'file');
