import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, type Node as JsonNode, parseTree } from 'jsonc-parser';
import { type Edited, hashOf, type Made, type OwnedText } from './owned-text.js';

type Members = Readonly<Record<string, unknown>>;

interface Place {
  /** Member of the root that holds the entries by name. */
  readonly group: string;
  readonly name: string;
}

/**
 * Our entry in a JSON file, such as `mcpServers.workspace-graph`. It is ours when its value is one that we wrote. All
 * other text stays as it is; a file that is no plain JSON is somebody else's.
 */
export function jsonEntry(place: Place, value: Members): OwnedText {
  const hash = hashOf(JSON.stringify(value));
  return {
    hash,
    write(before, own) {
      if (before === null) return { text: `${JSON.stringify(asFile(place, value), null, 2)}\n`, made: 'file' };
      const root = objectAt(before);
      if (!root) return 'foreign';
      const entry = findNodeAtLocation(root, [place.group, place.name]);
      const made = findNodeAtLocation(root, [place.group]) ? 'entry' : 'group';
      if (!entry) return checked({ place, value, before, made }, insert(before, { root, place, value }));
      const found = hashAt(before, entry);
      if (!own.hashes.includes(found)) return 'foreign';
      if (found === hash) return { text: before, made: own.made };
      const text = spliced(before, entry, json(value, layoutOf(before, root), 2));
      return checked({ place, value, before, made: own.made }, text);
    },
    remove(before, own) {
      const root = objectAt(before);
      const entry = root && findNodeAtLocation(root, [place.group, place.name]);
      if (!root || !entry?.parent || !own.hashes.includes(hashAt(before, entry))) return 'foreign';
      const alone = entry.parent.parent?.children?.length === 1;
      const group = alone && own.made !== 'entry' ? entry.parent.parent?.parent : null;
      if (group && own.made === 'file' && root.children?.length === 1) return { text: null, made: null };
      return checked({ place, value: undefined, before, made: null }, cut(before, group ?? entry.parent));
    },
  };
}

function asFile({ group, name }: Place, value: Members): Members {
  return { [group]: { [name]: value } };
}

/** The tree of a text that is a JSON object and nothing else: no comment, no name twice. */
function objectAt(text: string): JsonNode | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const root = parseTree(text);
  return root?.type === 'object' ? root : null;
}

/** By value: a file that was formatted anew still holds our entry. */
function hashAt(text: string, { offset, length }: JsonNode): string {
  return hashOf(JSON.stringify(JSON.parse(text.slice(offset, offset + length))));
}

interface Insertion {
  readonly root: JsonNode;
  readonly place: Place;
  readonly value: Members;
}

/** The text with the entry as the last one of its group; null where the group is no object. */
function insert(text: string, { root, place, value }: Insertion): string | null {
  const layout = layoutOf(text, root);
  const group = findNodeAtLocation(root, [place.group]);
  if (!group) return added(text, root, `${JSON.stringify(place.group)}: ${json({ [place.name]: value }, layout, 1)}`);
  if (group.type !== 'object') return null;
  return added(text, group, `${JSON.stringify(place.name)}: ${json(value, layout, 2)}`);
}

/** A member at the end of an object, on a line of its own. */
function added(text: string, object: JsonNode, member: string): string {
  const last = object.children?.at(-1);
  const layout = layoutOf(text, rootOf(object));
  const line = lineAt(layout, depthOf(object) + 1) + member;
  if (last) return spliced(text, { offset: last.offset + last.length, length: 0 }, `,${line}`);
  return spliced(text, { offset: object.offset + 1, length: 0 }, line + lineAt(layout, depthOf(object)));
}

/** The text without a member, undoing what `added` does. */
function cut(text: string, member: JsonNode): string {
  const object = member.parent ?? member;
  const members = object.children ?? [];
  const index = members.indexOf(member);
  const [before, after] = [members[index - 1], members[index + 1]];
  const end = member.offset + member.length;
  if (before) return without(text, before.offset + before.length, end);
  if (after) return without(text, member.offset, after.offset);
  const closing = lineAt(members.length > 0 ? layoutAfter(text, object) : PLAIN, depthOf(object));
  return without(text, object.offset + 1, text.startsWith(closing, end) ? end + closing.length : end);
}

/** The layout that `added` had when the only member was not there yet. */
function layoutAfter(text: string, object: JsonNode): Layout {
  return object.parent ? layoutOf(text, rootOf(object)) : PLAIN;
}

interface Layout {
  readonly indent: string;
  readonly eol: string;
}

const PLAIN: Layout = { indent: '  ', eol: '\n' };

/** How the file is written: the indentation of its first member and its line ends. */
function layoutOf(text: string, root: JsonNode): Layout {
  const first = root.children?.[0];
  if (!first) return PLAIN;
  const match = /(\r?\n)([ \t]+)$/.exec(text.slice(root.offset + 1, first.offset));
  return match ? { eol: match[1] ?? '\n', indent: match[2] ?? '  ' } : PLAIN;
}

function lineAt({ eol, indent }: Layout, depth: number): string {
  return eol + indent.repeat(depth);
}

function json(value: unknown, { indent, eol }: Layout, depth: number): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', eol + indent.repeat(depth));
}

function depthOf(object: JsonNode): number {
  return object.parent ? 1 : 0;
}

function rootOf(node: JsonNode): JsonNode {
  return node.parent ? rootOf(node.parent) : node;
}

function spliced(
  text: string,
  { offset, length }: { readonly offset: number; readonly length: number },
  replacement: string,
): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

function without(text: string, start: number, end: number): string {
  return text.slice(0, start) + text.slice(end);
}

interface Change {
  readonly place: Place;
  /** What the entry is to be; undefined when it is to be gone. */
  readonly value: Members | undefined;
  readonly before: string;
  readonly made: Made | null;
}

/** The new text, if our entry is as it is to be and everything else means what it meant before. */
function checked({ place, value, before, made }: Change, after: string | null): Edited {
  if (after === null) return 'foreign';
  const [old, now] = [apart(before, place), apart(after, place)];
  if (!isDeepStrictEqual(old.others, now.others) || !isDeepStrictEqual(now.own, value)) return 'foreign';
  return { text: after, made };
}

function apart(text: string, { group, name }: Place): { own: unknown; others: unknown } {
  const { [group]: entries = {}, ...rest } = JSON.parse(text) as Members;
  const { [name]: own, ...others } = entries as Members;
  return { own, others: { ...rest, [group]: others } };
}
