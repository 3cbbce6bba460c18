import { StringDecoder } from 'node:string_decoder';
import { SaxesParser } from 'saxes';
import { ToolFailed } from './errors.js';
// Characters that XML does not allow. Subversion writes some of them as they are; one message with such a character must
// not keep all revisions after it from being read.
const NO_XML = /(?![\t\n\r\u007f-\u009f])[\p{Cc}\ufffe\uffff]/gu;
/**
 * Reads XML while it arrives and answers each element with one of the `names` as soon as it ends. Such an element is not
 * kept as the child of another, so that the memory needed is that of one, however long the document is.
 */
export async function* readElements(pieces, names) {
    const found = [];
    const open = [];
    const parser = new SaxesParser();
    parser.on('error', (error) => {
        throw new ToolFailed('svn', 0, `its XML cannot be read: ${error.message}`);
    });
    parser.on('opentag', ({ name, attributes }) => {
        open.push({ name, attributes: attributes, text: '', children: [] });
    });
    parser.on('text', (text) => {
        const element = open.at(-1);
        if (element)
            element.text += text;
    });
    parser.on('closetag', () => {
        const element = open.pop();
        if (!element)
            return;
        if (names.includes(element.name))
            found.push(element);
        else
            open.at(-1)?.children.push(element);
    });
    const decoder = new StringDecoder('utf8');
    for await (const piece of pieces) {
        parser.write(decoder.write(piece).replace(NO_XML, '\ufffd'));
        yield* found.splice(0);
    }
    parser.close();
    yield* found.splice(0);
}
export function child(element, name) {
    return element.children.find((one) => one.name === name);
}
export const textOf = (element, name) => child(element, name)?.text;
