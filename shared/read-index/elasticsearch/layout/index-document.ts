import type { Uid } from '../../../schema/content-type.ts';

/** A value in a document. */
export type StoredValue = string | number;

/** Fields of a node (see `DocumentLayout`). */
export type PlaceBody = {
  readonly f?: { readonly [field: string]: StoredValue };
  readonly g?: { readonly [attribute: string]: string };
  readonly w?: { readonly [attribute: string]: string };
  readonly x?: readonly string[];
  readonly c?: { readonly [attribute: string]: PlaceBody | readonly PlaceBody[] | readonly SharedItemBody[] };
  readonly e?: { readonly [attribute: string]: EmbeddedBody | readonly EmbeddedBody[] };
  readonly t?: { readonly [attribute: string]: readonly number[] };
  readonly u?: readonly string[];
};

export type EmbeddedBody = PlaceBody & { readonly key: number };

/** A component of a dynamic zone, or of a list in one, with the single components in it (see `SharedItem`). */
export type SharedItemBody = Omit<PlaceBody, 'c'> & {
  readonly at: string;
  readonly c?: readonly SharedItemBody[];
};

export type DocumentBody = PlaceBody & {
  readonly key: number;
  /** base64 of the row's JSON in answers. */
  readonly src: string;
  /** base64 of the JSON of `StoredLinks`. Absent if there are no links. */
  readonly links?: string;
  /** base64 of the JSON of `StoredParts['components']`. Absent if there are no components. */
  readonly parts?: string;
  readonly s?: { readonly [name: string]: StoredValue };
  readonly words?: readonly string[];
  readonly vocabulary?: readonly string[];
  readonly stems?: { readonly [field: string]: string };
};

/** Links that a row or component owns, by attribute, in link order. Each link is [key of the target, targetOrder]. */
export type StoredLinks = { readonly [attribute: string]: readonly (readonly [number, number])[] };

/** A component as `populate` reads it. */
export type StoredPart = {
  readonly key: number;
  readonly component: Uid;
  /** JSON of the component in answers. */
  readonly source: string;
  readonly links?: StoredLinks;
  readonly components?: StoredParts;
};

export type StoredParts = { readonly [attribute: string]: readonly StoredPart[] };
