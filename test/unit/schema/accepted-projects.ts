/** Schema files of a project that Strapi accepts, and the warnings of Varve at its start. */
export type AcceptedProject = {
  readonly title: string;
  readonly files: { readonly [file: string]: unknown };
  /** `attribute: action` of each warning, with the name of the type unless it is `thing`. */
  readonly warnings: readonly string[];
};

type Attributes = { readonly [name: string]: unknown };

function type(name: string, attributes: Attributes, more: object = {}): { [file: string]: unknown } {
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  return { [`api/${name}/content-types/${name}/schema.json`]: { info, attributes, ...more } };
}

function thing(title: string, attributes: Attributes, ...warnings: readonly string[]): AcceptedProject {
  return { title, files: type('thing', { name: { type: 'string' }, ...attributes }), warnings };
}

function custom(title: string, customField: string, ...warnings: readonly string[]): AcceptedProject {
  return thing(title, { x: { type: 'customField', customField } }, ...warnings);
}

function relation(kind: string, target: string, more: object = {}): object {
  return { type: 'relation', relation: kind, target, ...more };
}

/** Returns a project with a relation `a` of `thing` to `other`, and `b` of `other` to `thing`. */
function pair(title: string, a: object, b: object, ...warnings: readonly string[]): AcceptedProject {
  return { title, files: { ...type('thing', { a }), ...type('other', { b }) }, warnings };
}

const TO_OTHER = 'api::other.other';
const TO_THING = 'api::thing.thing';
const UNKNOWN_FIELD = (field: string) =>
  `x: served as json or text; set the type with --custom-field ${field}=<type>`;

const NAMES: readonly AcceptedProject[] = [
  thing('an attribute called status', { status: { type: 'string' } }),
  thing('attributes with hyphens and letters of any script', {
    'meta-title': { type: 'string' },
    año: { type: 'integer' },
    名前: { type: 'string' },
    _order: { type: 'integer' },
    '2fa': { type: 'boolean' },
  }),
  thing(
    'an attribute with a full stop in its name',
    { 'a.b': { type: 'string' } },
    "attributes['a.b']: left out",
  ),
  thing('an attribute called meta', { meta: { type: 'json' } }),
  thing('an attribute called strapi', { strapi: { type: 'string' } }),
  thing('an attribute that Strapi adds itself', { createdAt: { type: 'datetime' } }, 'createdAt: left out'),
  thing('an attribute called constructor', { constructor: { type: 'string' } }, 'constructor: left out'),
  { title: 'a type called document', files: type('document', {}), warnings: [] },
  { title: 'a type called date', files: type('date', {}), warnings: [] },
  {
    title: 'info of version 4 together with that of version 5',
    files: {
      'api/thing/content-types/thing/schema.json': {
        collectionName: 'things',
        info: { name: 'thing', description: null, singularName: 'thing', pluralName: 'things', icon: 'x' },
        options: { increments: true, timestamps: true, comment: '' },
        attributes: { name: { type: 'string' } },
      },
    },
    warnings: ['info.description: this option is dropped'],
  },
  {
    title: 'a display name that is not a text',
    files: {
      'api/thing/content-types/thing/schema.json': {
        info: { singularName: 'thing', pluralName: 'things', displayName: 7 },
        attributes: {},
      },
    },
    warnings: ['info.displayName: this option is dropped'],
  },
  {
    title: 'an option of the wrong form together with private attributes',
    files: type(
      'thing',
      { secret: { type: 'string' } },
      { options: { draftAndPublish: 'yes', privateAttributes: ['secret', 'id', 7] } },
    ),
    warnings: [
      'options.draftAndPublish: this option is dropped',
      'options.privateAttributes[2]: this option is dropped',
      'options.privateAttributes[1]: this option is dropped',
    ],
  },
];

const CUSTOM_FIELDS: readonly AcceptedProject[] = [
  custom('CKEditor 4', 'plugin::ckeditor.CKEditor'),
  custom('CKEditor 5', 'plugin::ckeditor5.CKEditor'),
  custom('TipTap', 'plugin::tiptap-editor.RichText'),
  custom('TinyMCE', 'plugin::tinymce.tinymce'),
  custom('a colour', 'plugin::color-picker.color'),
  custom('several choices', 'plugin::multi-select.multi-select'),
  custom('a UUID', 'plugin::strapi-advanced-uuid.uuid'),
  custom('tags', 'plugin::tagsinput.tags'),
  custom('a video', 'plugin::oembed.oembed'),
  custom('an unknown custom field', 'plugin::rating.stars', UNKNOWN_FIELD('plugin::rating.stars')),
  thing(
    'an unknown custom field in two attributes',
    {
      a: { type: 'customField', customField: 'plugin::rating.stars' },
      b: { type: 'customField', customField: 'plugin::rating.stars' },
    },
    UNKNOWN_FIELD('plugin::rating.stars').replace('x', 'a'),
  ),
  custom('a custom field of the project', 'global::map', UNKNOWN_FIELD('global::map')),
  thing('a custom field whose schema names its type', {
    x: {
      type: 'customField',
      customField: 'plugin::rating.stars',
      pluginOptions: { varve: { type: 'integer' } },
    },
  }),
  {
    title: 'a custom field in a component',
    files: {
      ...type('thing', { box: { type: 'component', component: 'shared.box' } }),
      'components/shared/box.json': {
        attributes: { x: { type: 'customField', customField: 'plugin::a.b' } },
      },
    },
    warnings: [`shared.box ${UNKNOWN_FIELD('plugin::a.b')}`],
  },
];

const OPTIONS: readonly AcceptedProject[] = [
  thing(
    'a default outside the enumeration',
    { x: { type: 'enumeration', enum: ['a', 'b'], default: 'c' } },
    'x.default: served without `default`',
  ),
  thing(
    'a value of an enumeration twice',
    { x: { type: 'enumeration', enum: ['a', 'b', 'a'] } },
    'x.enum[2]: served without `"a"`',
  ),
  thing('limits as text', { x: { type: 'integer', min: '1', max: 5 } }, 'x.min: served without `min`'),
  thing(
    'limits that contradict each other',
    { x: { type: 'string', minLength: 9, maxLength: 3 } },
    'x.minLength: served without `minLength`',
  ),
  thing('a pattern that is none', { x: { type: 'string', regex: '[' } }, 'x.regex: served without `regex`'),
  thing(
    'a default of another type',
    { x: { type: 'boolean', default: 'no' } },
    'x.default: served without `default`',
  ),
  thing('flags as text', { x: { type: 'string', private: 'true' } }, 'x.private: taken as true'),
  thing(
    'a uid of an attribute that is not there',
    { x: { type: 'uid', targetField: 'title' } },
    'x.targetField: served without `targetField`',
  ),
  thing(
    'allowed types of a medium as text',
    { x: { type: 'media', allowedTypes: 'images' } },
    'x.allowedTypes: served without `allowedTypes`',
  ),
  thing('an unknown attribute type', { x: { type: 'varchar' } }, 'x.type: left out'),
  thing('an attribute without a type', { x: {} }, 'x.type: left out'),
];

const RELATIONS: readonly AcceptedProject[] = [
  thing(
    'a relation to a type of a plugin that is not there',
    { x: relation('oneToOne', 'plugin::shop.order') },
    'x.target: left out',
  ),
  thing(
    'a relation to users of the admin panel',
    { x: relation('oneToOne', 'admin::user') },
    'x.target: left out',
  ),
  thing(
    'a polymorphic relation',
    { x: { type: 'relation', relation: 'morphToMany' } },
    'x.relation: left out',
  ),
  thing(
    'an inverse side that is not there',
    { x: relation('oneToOne', 'plugin::users-permissions.user', { inversedBy: 'thing' }) },
    'x.inversedBy: served without `inversedBy`',
  ),
  pair(
    'both sides are inversedBy',
    relation('manyToMany', TO_OTHER, { inversedBy: 'b' }),
    relation('manyToMany', TO_THING, { inversedBy: 'a' }),
    'a: served as manyToMany, mappedBy b',
  ),
  pair(
    'both sides are mappedBy',
    relation('oneToOne', TO_OTHER, { mappedBy: 'b' }),
    relation('oneToOne', TO_THING, { mappedBy: 'a' }),
    'a: served as oneToOne, inversedBy b',
  ),
  pair(
    'only the inverse side names the other',
    relation('manyToOne', TO_OTHER),
    relation('oneToMany', TO_THING, { mappedBy: 'a' }),
    'a: served as manyToOne, inversedBy b',
  ),
  pair(
    'only the owning side names the other',
    relation('manyToOne', TO_OTHER, { inversedBy: 'b' }),
    relation('oneToMany', TO_THING),
    'other b: served as oneToMany, mappedBy a',
  ),
  pair(
    'kinds that do not belong together, both showing one',
    relation('manyToOne', TO_OTHER, { inversedBy: 'b' }),
    relation('oneToOne', TO_THING, { mappedBy: 'a' }),
    'a: served as oneToOne, inversedBy b',
  ),
  pair(
    'the many side of a one-to-many owns it',
    relation('oneToMany', TO_OTHER, { inversedBy: 'b' }),
    relation('manyToOne', TO_THING, { mappedBy: 'a' }),
    'a: served as oneToMany, mappedBy b',
    'other b: served as manyToOne, inversedBy a',
  ),
  {
    title: 'a component that is not there, alone and in a dynamic zone',
    files: {
      ...type('thing', {
        x: { type: 'component', component: 'shared.gone' },
        zone: { type: 'dynamiczone', components: ['shared.box', 'shared.gone'] },
      }),
      'components/shared/box.json': { attributes: {} },
    },
    warnings: ['x.component: left out', 'zone.components[1]: served without `"shared.gone"`'],
  },
  {
    title: 'a component that contains itself through a dynamic zone',
    files: {
      ...type('thing', { box: { type: 'component', component: 'shared.box' } }),
      'components/shared/box.json': {
        attributes: { zone: { type: 'dynamiczone', components: ['shared.box', 'shared.part'] } },
      },
      'components/shared/part.json': { attributes: { name: { type: 'string' } } },
    },
    warnings: ['shared.box zone.components[0]: served without `"shared.box"`'],
  },
  {
    title: 'a component that contains itself',
    files: {
      ...type('thing', { box: { type: 'component', component: 'shared.box' } }),
      'components/shared/box.json': {
        attributes: { inner: { type: 'component', component: 'shared.box', repeatable: true } },
      },
    },
    warnings: ['shared.box inner.component: left out'],
  },
  {
    title: 'a relation of a component with an inverse side',
    files: {
      ...type('thing', { box: { type: 'component', component: 'shared.box' } }),
      'components/shared/box.json': {
        attributes: { x: relation('oneToOne', TO_THING, { inversedBy: 'box' }) },
      },
    },
    warnings: ['shared.box x.inversedBy: served without `inversedBy`'],
  },
];

/** Returns a content type in a plugin of the project. */
function pluginType(plugin: string, name: string, attributes: Attributes): { [file: string]: unknown } {
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const folder = `plugins/${plugin}/server/src/content-types/${name}`;
  return { [`${folder}/schema.json`]: { info, attributes } };
}

const PLUGINS: readonly AcceptedProject[] = [
  thing(
    'relations to types of plugins that are not there, and to administrators',
    {
      order: relation('oneToOne', 'plugin::shop.order'),
      editor: relation('manyToOne', 'admin::user'),
      editors: relation('manyToMany', 'admin::user'),
    },
    ...['order.target: left out', 'editor.target: left out', 'editors.target: left out'],
  ),
  {
    title: 'a type of a plugin of its own',
    files: {
      ...type('thing', { order: relation('oneToOne', 'plugin::shop.order', { inversedBy: 'thing' }) }),
      ...pluginType('shop', 'order', {
        thing: relation('oneToOne', TO_THING, { mappedBy: 'order' }),
      }),
    },
    warnings: [],
  },
  {
    title: 'types of two plugins of one name, and of a type of the project',
    files: {
      ...type('thing', { name: { type: 'string' } }),
      ...pluginType('one', 'thing', {}),
      ...pluginType('one', 'order', {}),
      ...pluginType('two', 'order', {}),
    },
    warnings: ['info: left out', 'order info: left out'],
  },
];

export const ACCEPTED_PROJECTS: readonly AcceptedProject[] = [
  ...NAMES,
  ...CUSTOM_FIELDS,
  ...OPTIONS,
  ...RELATIONS,
  ...PLUGINS,
];
