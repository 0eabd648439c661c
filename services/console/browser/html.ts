import htm from 'htm';
import { h, type VNode } from 'preact';

/** Anything that a template can contain. */
export type Content = VNode | string | number | null | undefined | false | readonly Content[];

/** Template of elements. Values become text or properties, never markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
