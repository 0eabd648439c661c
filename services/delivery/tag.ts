import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/**
 * Name of something that answers depend on. An answer has a tag for everything that determines its bytes. A change has a tag for everything
 * that it changes. If they share no tag, the change does not change the answer.
 */
export type Tag = string;

/** Replaces the attribute in the tag of rows that appear and disappear. */
export const ROWS = '$rows';

/** Returns the tag of a document in a world: its values in all locales, components and own links. */
export function documentTag(type: Uid, world: World, documentId: string): Tag {
  return `d ${world} ${type} ${documentId}`;
}

/** Returns the tag of a relation's links to one document, as the document's inverse side shows them. */
export function inverseTag(target: Uid, world: World, documentId: string, relation: Relation): Tag {
  return `i ${world} ${target} ${documentId} ${relation.type}.${relation.attribute}`;
}

/** A relation, named by its owning side. A relation in a component is named by the content type's attribute. */
export type Relation = { readonly type: Uid; readonly attribute: string };

/** Returns the tag of an attribute of all rows of a content type, or of `ROWS`. */
export function attributeTag(type: Uid, world: World, attribute: string): Tag {
  return `a ${world} ${type} ${attribute}`;
}

/** Returns the tag of an attribute, or of `ROWS`, of the rows that have a value in a field. */
export function narrowTag(type: Uid, world: World, equality: Equality, attribute: string): Tag {
  return `n ${world} ${type} ${attribute} ${equality.field}=${String(equality.value)}`;
}

/**
 * Returns the tag of the order among rows with an equal value in a field. Their ids decide this order. Publishing gives a row another id,
 * so the row moves only among these rows.
 */
export function tieTag(type: Uid, world: World, { field, value }: Equality): Tag {
  return `o ${world} ${type} ${field}=${String(value)}`;
}

export type Equality = { readonly field: string; readonly value: unknown };

/** Returns the tag of the words of a type's texts, in both worlds. Typos, stems and relevance depend on all of them. */
export function wordsTag(type: Uid): Tag {
  return `w ${type}`;
}

/** Returns whether an answer with this tag is ranked by words. */
export function isWordsTag(tag: Tag): boolean {
  return tag.startsWith('w ');
}

export type TagParts = {
  readonly kind: string;
  /** undefined for words of texts. */
  readonly world: string | undefined;
  readonly type: Uid;
  readonly documentId: string | undefined;
};

/** Splits a tag. Values in tags come last, because they may have spaces. */
export function partsOfTag(tag: Tag): TagParts {
  const [kind = '', world = '', type = '', documentId] = tag.split(' ', 4);
  if (kind === 'w') return { kind, world: undefined, type: world, documentId: undefined };
  return { kind, world, type, documentId: kind === 'd' || kind === 'i' ? documentId : undefined };
}
