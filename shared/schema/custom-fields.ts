import { isRecord } from '../json-record.ts';
import { type Attribute, SCALAR_TYPES, type ScalarType } from './content-type.ts';

/** Stored types of well-known custom fields. The keys are the uids that the plugins register. */
export const CUSTOM_FIELD_TYPES: { readonly [customField: string]: ScalarType } = {
  'plugin::color-picker.color': 'string',
  'plugin::ckeditor.CKEditor': 'richtext',
  'plugin::ckeditor5.CKEditor': 'richtext',
  'plugin::tinymce.tinymce': 'richtext',
  'plugin::tiptap-editor.RichText': 'text',
  'plugin::tiptap.tiptap': 'text',
  'plugin::multi-select.multi-select': 'json',
  'plugin::strapi-advanced-uuid.uuid': 'string',
  'plugin::field-uuid.uuid': 'string',
  'plugin::uuid.uuid': 'string',
  'plugin::video-field.video': 'json',
  'plugin::oembed.oembed': 'json',
  'plugin::tagsinput.tags': 'json',
  'plugin::string-array.input': 'text',
  'plugin::language-select.language': 'string',
  'plugin::country-select.country': 'string',
  'plugin::react-icons.icon': 'string',
  'plugin::strapi-plugin-iconhub.iconhub': 'json',
  'plugin::icons-field.icon': 'string',
  'plugin::strapi-location-picker.location': 'json',
  'plugin::google-maps.location-picker': 'json',
  'plugin::ez-forms.form': 'json',
  'plugin::slug-pro.slug': 'string',
  'plugin::seo.seo': 'json',
};

/** Returns the stored type in `varve.type` of an attribute's options; undefined if they have none. */
export function namedType(pluginOptions: unknown): ScalarType | undefined {
  const options = pluginOptions as { readonly varve?: { readonly type?: unknown } | null } | null | undefined;
  return SCALAR_TYPES.find((type) => type === options?.varve?.type);
}

/**
 * Returns `pluginOptions` of an attribute that stores JSON or text. Nobody knows which one its plugin stores, so a text is not parsed as
 * JSON.
 */
export function withAnyText(pluginOptions: unknown): unknown {
  const options = isRecord(pluginOptions) ? pluginOptions : {};
  const varve = isRecord(options['varve']) ? options['varve'] : {};
  return { ...options, varve: { ...varve, anyText: true } };
}

/** Returns whether an attribute of the type JSON stores every text unchanged. */
export function storesAnyText({ varve }: Pick<Attribute, 'varve'>): boolean {
  return isRecord(varve) && varve['anyText'] === true;
}
