import { defined } from '../defined.ts';
import type { Attribute, Component, ContentType, Uid } from './content-type.ts';
import { parseAttribute, parseForm } from './parse-attribute.ts';
import { attributeNameProblem, SHOWN_SYSTEM_ATTRIBUTES, SYSTEM_TIMES } from './reserved-names.ts';
import { COMPONENT_SCHEMA, CONTENT_TYPE_SCHEMA } from './schema-json.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import { SEARCH_OF_TYPE } from './search-options.ts';

type Owner = {
  readonly owner: 'content type' | 'component';
  readonly localizedType: boolean;
  readonly privateAttributes: readonly string[];
};

/**
 * Parses a content type from the JSON of a schema.json, without its uid, which follows from the path of the file. Reports problems to
 * `report`. Returns undefined if the file as a whole is not a content type. Omits invalid attributes.
 */
export function parseContentType(json: unknown, report: ReportProblem): Omit<ContentType, 'uid'> | undefined {
  const parsed = parseForm(CONTENT_TYPE_SCHEMA, json, report);
  if (parsed === undefined) return undefined;
  const { kind, info, options, pluginOptions, attributes } = parsed;
  const localized = pluginOptions?.i18n?.localized === true;
  const privateAttributes = options?.privateAttributes ?? [];
  for (const [at, name] of privateAttributes.entries()) {
    if (SHOWN_SYSTEM_ATTRIBUTES.includes(name)) {
      report(['options', 'privateAttributes', at], `${name} is part of every answer and cannot be private`);
    }
  }
  parseForm(SEARCH_OF_TYPE, pluginOptions?.varve ?? {}, below(report, 'pluginOptions', 'varve'));
  const privateTimes = SYSTEM_TIMES.filter((name) => privateAttributes.includes(name));
  const owner: Owner = { owner: 'content type', localizedType: localized, privateAttributes };
  return {
    kind,
    singularName: info.singularName,
    pluralName: info.pluralName,
    displayName: info.displayName ?? info.singularName,
    draftAndPublish: options?.draftAndPublish ?? false,
    localized,
    ...(privateTimes.length === 0 ? {} : { privateTimes }),
    attributes: parseAttributes(attributes, owner, below(report, 'attributes')),
    builtIn: false,
    ...defined({ varve: pluginOptions?.varve }),
  };
}

/** Parses a component from the JSON of its file. Otherwise it works like `parseContentType`. */
export function parseComponent(json: unknown, uid: Uid, report: ReportProblem): Component | undefined {
  const parsed = parseForm(COMPONENT_SCHEMA, json, report);
  if (parsed === undefined) return undefined;
  const { info, options, attributes } = parsed;
  const privateAttributes = options?.privateAttributes ?? [];
  const owner: Owner = { owner: 'component', localizedType: false, privateAttributes };
  return {
    uid,
    displayName: info?.displayName ?? uid,
    attributes: parseAttributes(attributes, owner, below(report, 'attributes')),
  };
}

function parseAttributes(
  attributes: { readonly [name: string]: unknown },
  { owner, localizedType, privateAttributes }: Owner,
  report: ReportProblem,
): Map<string, Attribute> {
  const parsed = new Map<string, Attribute>();
  for (const [name, raw] of Object.entries(attributes)) {
    const reportHere = below(report, name);
    const problem = attributeNameProblem(name, owner);
    if (problem !== undefined) reportHere([], problem);
    const context = { name, owner, localizedType, madePrivate: privateAttributes.includes(name) };
    const attribute = parseAttribute(raw, context, reportHere);
    if (attribute !== undefined) parsed.set(name, attribute);
  }
  return parsed;
}
