import type { SchemaFile } from './build-registry.ts';
import type { RelationKind, Uid } from './content-type.ts';
import { uidOfFile } from './name-conflicts.ts';
import { type SchemaWarning, schemaProblem } from './schema-problem.ts';

/** A relation attribute in the form of its file. */
type RawRelation = {
  type: 'relation';
  relation: string;
  target: Uid;
  inversedBy?: string;
  mappedBy?: string;
};

/** Kinds of the two ends of a relation, by whether each shows one entry or a list. The first end owns the links. */
const KINDS: Record<string, readonly [RelationKind, RelationKind]> = {
  'one one': ['oneToOne', 'oneToOne'],
  'one many': ['manyToOne', 'oneToMany'],
  'many many': ['manyToMany', 'manyToMany'],
};

type End = {
  readonly uid: Uid;
  readonly file: string;
  readonly name: string;
  readonly raw: RawRelation;
};

/**
 * Makes the two ends of each relation consistent, in place. Strapi does not compare them. It serves an end without `inversedBy` or
 * `mappedBy`, two ends that both have `inversedBy`, and ends whose kinds do not match. Each end still shows one entry, or a list, as
 * before.
 */
export function pairRelations(files: readonly SchemaFile[]): SchemaWarning[] {
  const ends = new Map<string, End>();
  for (const end of files.flatMap(relationsOf)) ends.set(`${end.uid} ${end.name}`, end);
  const warnings: SchemaWarning[] = [];
  const done = new Set<End>();
  for (const end of ends.values()) {
    const name = end.raw.inversedBy ?? end.raw.mappedBy;
    const other = name === undefined ? undefined : ends.get(`${end.raw.target} ${name}`);
    if (other === undefined || other.raw.target !== end.uid || done.has(end) || done.has(other)) continue;
    if (other !== end && isFree(other, end)) {
      done.add(end).add(other);
      warnings.push(...pair(end, other));
    }
  }
  return warnings;
}

/** Returns whether `other` does not name a third attribute as its other side. */
function isFree({ raw }: End, end: End): boolean {
  return [raw.inversedBy, raw.mappedBy].every((name) => name === undefined || name === end.name);
}

function pair(end: End, other: End): SchemaWarning[] {
  const [owner, inverse] = ownerFirst(end, other);
  const kinds = KINDS[`${shows(owner)} ${shows(inverse)}`];
  if (kinds === undefined) return [];
  return [...settle(owner, kinds[0], 'inversedBy', inverse), ...settle(inverse, kinds[1], 'mappedBy', owner)];
}

/** Returns the owning end first. The end that shows one entry owns a relation to many; otherwise the end with `inversedBy` does. */
function ownerFirst(end: End, other: End): readonly [End, End] {
  if (shows(end) !== shows(other)) return shows(end) === 'one' ? [end, other] : [other, end];
  return end.raw.inversedBy === undefined ? [other, end] : [end, other];
}

function shows({ raw }: End): 'one' | 'many' {
  return raw.relation.endsWith('Many') ? 'many' : 'one';
}

/** Makes `key` the only member that names the other end. */
function settle(
  { file, name, raw }: End,
  relation: RelationKind,
  key: 'inversedBy' | 'mappedBy',
  other: End,
): SchemaWarning[] {
  const isAlone = raw.inversedBy === undefined || raw.mappedBy === undefined;
  if (raw.relation === relation && raw[key] === other.name && isAlone) return [];
  const where = schemaProblem(file, ['attributes', name], '');
  const message = `the relation does not match its other side, ${other.uid} ${other.name}`;
  raw.relation = relation;
  delete raw.inversedBy;
  delete raw.mappedBy;
  raw[key] = other.name;
  return [{ file, path: where.path, message, action: `served as ${relation}, ${key} ${other.name}` }];
}

function relationsOf(source: SchemaFile): End[] {
  if (source.model !== 'contentType') return [];
  const attributes = (source.json as { attributes?: unknown } | null)?.attributes;
  if (typeof attributes !== 'object' || attributes === null) return [];
  const uid = uidOfFile(source);
  return Object.entries(attributes).flatMap(([name, raw]) =>
    isTwoSidedKind(raw) ? [{ uid, file: source.file, name, raw }] : [],
  );
}

function isTwoSidedKind(raw: unknown): raw is RawRelation {
  if (typeof raw !== 'object' || raw === null || !('relation' in raw) || !('target' in raw)) return false;
  return typeof raw.target === 'string' && /^(one|many)To(One|Many)$/.test(String(raw.relation));
}
