import { FileTooLarge, PathNotFound } from './errors.js';
import { below, decodePath, encodePath, insidePath, joinPath } from './location.js';
import { collect } from './repository.js';
import { decodeValue, kindOf } from './svn-log.js';
import { readSvn, runSvn } from './svn-tool.js';
import { OutputTooLarge } from './tool.js';
import { child, textOf } from './xml.js';
/**
 * The target of a command: always with a revision behind the last `@`, so that one in a name means nothing, and encoded,
 * so that nothing else does either.
 */
export function target(base, path, { number }) {
    return `${base}${path === '' ? '' : `/${encodePath(path)}`}@${number}`;
}
export async function* listFolder(session, base, { path, revision, isRecursive }) {
    const folder = insidePath(path);
    const args = ['list', ...(isRecursive ? ['--recursive'] : []), target(base, folder, revision)];
    try {
        let isFirst = true;
        for await (const element of readSvn(session, args, ['entry'])) {
            const entry = readEntry(element, folder);
            // Asked for a file, svn lists the file itself; a folder may hold one file of its own name.
            if (isFirst && entry.kind === 'file' && entry.path === joinPath(folder, folder.split('/').at(-1) ?? '')) {
                if ((await statPath(session, base, { path: folder, revision }))?.kind === 'file')
                    return;
            }
            isFirst = false;
            yield entry;
        }
    }
    catch (error) {
        if (!(error instanceof PathNotFound))
            throw error;
    }
}
function readEntry(element, folder) {
    return { ...readFacts(element, textOf(element, 'size')), path: joinPath(folder, textOf(element, 'name') ?? '') };
}
export function readFacts(element, size) {
    const changed = child(element, 'commit')?.attributes['revision'];
    return {
        kind: kindOf(element.attributes['kind']),
        ...(size === undefined ? {} : { size: Number(size) }),
        ...(changed === undefined ? {} : { lastChanged: Number(changed) }),
    };
}
export async function statPath(session, base, { path, revision }) {
    const inside = insidePath(path);
    try {
        const [element] = await collect(readSvn(session, ['info', target(base, inside, revision)], ['entry']));
        return element && { ...readFacts(element, element.attributes['size']), path: inside };
    }
    catch (error) {
        if (error instanceof PathNotFound)
            return undefined;
        throw error;
    }
}
export async function readFile(session, base, { path, revision, maxBytes }) {
    const inside = insidePath(path);
    try {
        return await runSvn(session, ['svn', 'cat', '--ignore-keywords', target(base, inside, revision)], { maxBytes });
    }
    catch (error) {
        if (error instanceof OutputTooLarge)
            throw new FileTooLarge(`${inside} is larger than ${maxBytes} bytes`);
        throw error;
    }
}
export async function readProperties(session, base, { path, revision }) {
    const inside = insidePath(path);
    const properties = {};
    const args = ['proplist', '--verbose', target(base, inside, revision)];
    for await (const element of readSvn(session, args, ['property'])) {
        properties[element.attributes['name'] ?? ''] = decodeValue(element);
    }
    return properties;
}
const ACTIONS = { added: 'A', deleted: 'D', modified: 'M', none: 'M' };
export async function* readDiff(session, base, { from, to }) {
    if (from.number === to.number)
        return;
    const args = ['diff', '--summarize', `--old=${target(base, '', from)}`, `--new=${target(base, '', to)}`];
    try {
        for await (const { attributes, text } of readSvn(session, args, ['path'])) {
            const path = below(decodePath(base), decodePath(text));
            const action = ACTIONS[attributes['item'] ?? ''];
            if (path !== undefined && action)
                yield { path, action, kind: kindOf(attributes['kind']) };
        }
    }
    catch (error) {
        // Neither revision has the folder.
        if (!(error instanceof PathNotFound))
            throw error;
    }
}
