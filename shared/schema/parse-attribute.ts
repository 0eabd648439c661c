import type { z } from 'zod';
import { defined } from '../defined.ts';
import { type Attribute, FILE_TYPE, type RelationAttribute, type ScalarType } from './content-type.ts';
import { CUSTOM_FIELD_TYPES, namedType } from './custom-fields.ts';
import { parseRelation } from './parse-relation.ts';
import { type AttributeBase, parseScalar } from './parse-scalar.ts';
import {
  ATTRIBUTE_SCHEMAS,
  ATTRIBUTE_TYPES,
  type AttributeType,
  type RawCommon,
  type RawComponent,
  type RawCustomField,
  type RawDynamicZone,
  type RawMedia,
  type RawRelation,
  type RawScalar,
} from './schema-json.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import { SEARCH_OF_ATTRIBUTE } from './search-options.ts';

/** Context of an attribute. */
export type AttributeContext = {
  readonly name: string;
  readonly owner: 'content type' | 'component';
  /** True if the content type has i18n. */
  readonly localizedType: boolean;
  /** True if `options.privateAttributes` names the attribute. */
  readonly madePrivate: boolean;
};

/** Parses an attribute. Returns undefined and reports every problem if `raw` is not a valid one. */
export function parseAttribute(
  raw: unknown,
  context: AttributeContext,
  report: ReportProblem,
): Attribute | undefined {
  const type = attributeType(raw, report);
  if (type === undefined) return undefined;
  const parsed: RawCommon | undefined = parseForm(ATTRIBUTE_SCHEMAS[type], raw, report);
  if (parsed === undefined) return undefined;
  if (type !== 'customField') return attributeOf(type, parsed, context, report);
  const stored = customFieldType(parsed as RawCustomField, report);
  return stored && parseAttribute({ ...(raw as object), type: stored }, context, report);
}

/** Parses a value by a form. If it does not fit, reports Zod's findings, each with its path, and returns undefined. */
export function parseForm<Form extends z.ZodType>(
  form: Form,
  value: unknown,
  report: ReportProblem,
): z.output<Form> | undefined {
  const { data, error } = form.safeParse(value);
  for (const issue of error?.issues ?? [])
    report(issue.path, issue.message.replace(/^Invalid (input|option): /, ''));
  return data;
}

function attributeType(raw: unknown, report: ReportProblem): AttributeType | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    report([], 'expected an attribute, an object with a type');
    return undefined;
  }
  const given = (raw as { type?: unknown }).type;
  const type = ATTRIBUTE_TYPES.find((known) => known === given);
  if (type === undefined) {
    const found = JSON.stringify(given) ?? '(none)';
    report(['type'], `unknown type ${found}, expected one of ${ATTRIBUTE_TYPES.join(', ')}`);
  }
  return type;
}

function attributeOf(
  type: Exclude<AttributeType, 'customField'>,
  raw: RawCommon,
  context: AttributeContext,
  report: ReportProblem,
): Attribute | undefined {
  const base = baseOf(type, raw, context, report);
  switch (type) {
    case 'media':
      return mediaAttribute(base, raw as RawMedia);
    case 'relation':
      return parseRelation(base, raw as RawRelation, context.owner === 'component', report);
    case 'component': {
      const { component, repeatable = false, min, max } = raw as RawComponent;
      return { ...base, kind: type, component, repeatable, ...limits(min, max, report) };
    }
    case 'dynamiczone': {
      const { components, min, max } = raw as RawDynamicZone;
      return { ...base, kind: type, components, ...limits(min, max, report) };
    }
    default:
      return parseScalar(base, type, raw as RawScalar, report);
  }
}

function baseOf(
  type: AttributeType,
  raw: RawCommon,
  context: AttributeContext,
  report: ReportProblem,
): AttributeBase {
  const varve = raw.pluginOptions?.varve;
  parseForm(SEARCH_OF_ATTRIBUTE, varve ?? {}, below(report, 'pluginOptions', 'varve'));
  return {
    name: context.name,
    private: raw.private === true || context.madePrivate || type === 'password',
    required: raw.required ?? false,
    configurable: raw.configurable ?? true,
    localized: isLocalized(type, raw, context),
    ...defined({ varve, condition: raw.conditions?.visible }),
  };
}

/**
 * Returns whether each locale has its own value, by Strapi 5's rule (its i18n plugin's service `content-types`). On a localized type all
 * locales share an attribute unless its own option says `localized: true`. Relations (but not media) and uids always belong to one locale.
 */
function isLocalized(type: AttributeType, raw: RawCommon, context: AttributeContext): boolean {
  if (!context.localizedType || context.owner === 'component') return true;
  return raw.pluginOptions?.i18n?.localized === true || type === 'relation' || type === 'uid';
}

/**
 * Returns a media attribute as a relation. Many entries may show one file, so the attribute is the `many` end, whether it shows one file or
 * several.
 */
function mediaAttribute(base: AttributeBase, raw: RawMedia): RelationAttribute {
  const multiple = raw.multiple ?? false;
  return {
    ...base,
    kind: 'relation',
    relation: multiple ? 'manyToMany' : 'manyToOne',
    target: FILE_TYPE,
    toMany: multiple,
    media: { multiple, allowedTypes: raw.allowedTypes ?? ['images', 'files', 'videos', 'audios'] },
  };
}

function limits(min: number | undefined, max: number | undefined, report: ReportProblem) {
  if (min !== undefined && max !== undefined && min > max) report(['min'], `min ${min} is above max ${max}`);
  return defined({ min, max });
}

/**
 * Returns the stored type of a custom field. The plugin that defines the field is code, so the type is well known or the schema names it.
 */
function customFieldType(raw: RawCustomField, report: ReportProblem): ScalarType | undefined {
  const type = namedType(raw.pluginOptions) ?? CUSTOM_FIELD_TYPES[raw.customField];
  if (type === undefined) {
    const how = 'set its stored scalar type in pluginOptions.varve.type';
    report(['customField'], `the type of custom field ${JSON.stringify(raw.customField)} is unknown: ${how}`);
  }
  return type;
}
