import { componentTitle, contentTypes, isLocalized, pathName, writtenAttributes } from './content-model.ts';
import { boundsOf } from './field-parts.ts';
import { formatCount } from './format.ts';
import { type Content, html } from './html.ts';
import { linkTo } from './route.ts';
import type { ShownAttribute, Type } from './server.ts';
import { types } from './session.ts';

/** All content types: what they are, and which types their relations lead to. */
export function TypeOverview() {
  return html`<section class="card" aria-label="All content types">
    <h1>Content</h1>
    <p>Choose a content type in the list to see its entries, or in the table to see its attributes.</p>
    <div class="scroll" role="region" aria-label="Table of content types" tabindex="0"><table class="all-types">
      <thead><tr><th>type</th><th>kind</th><th>drafts</th><th>locales</th><th class="number">attributes</th><th>relations to</th></tr></thead>
      <tbody>${contentTypes().map((type) => html`<${TypeRow} key=${type.uid} type=${type} />`)}</tbody>
    </table></div>
  </section>`;
}

function TypeRow({ type }: { readonly type: Type }) {
  const { kind, draftAndPublish, displayName } = type.schema;
  const attributes = Object.values(writtenAttributes(type));
  const targets = new Set(attributes.flatMap(({ target }) => target ?? []));
  return html`<tr>
    <td><a href=${linkTo(['content', pathName(type), '_type'])}>${displayName}</a></td>
    <td>${kind === 'singleType' ? 'single' : 'collection'}</td>
    <td>${draftAndPublish ? 'yes' : 'no'}</td>
    <td>${isLocalized(type) ? 'yes' : 'no'}</td>
    <td class="number">${formatCount(attributes.length)}</td>
    <td class="wrap">${[...targets].map((uid, i) => html`${i === 0 ? '' : ', '}<${Target} uid=${uid} />`)}</td>
  </tr>`;
}

/** The attributes of a content type, as its schema has them. */
export function TypeAttributes({ type }: { readonly type: Type }) {
  const { draftAndPublish, displayName, kind } = type.schema;
  const rows = Object.entries(writtenAttributes(type));
  return html`<section class="card" aria-label="Content type">
    <p class="quiet"><a href=${linkTo(['content', pathName(type)])}>${displayName}</a> / <code>${type.uid}</code></p>
    <h1>${displayName}</h1>
    <p>${kind === 'singleType' ? 'A single entry' : 'A collection'}, ${draftAndPublish ? 'with drafts' : 'without drafts'},${' '}
      ${isLocalized(type) ? 'with locales' : 'without locales'}. What of the schema is not served is in <a href=${linkTo(['settings'])}>Settings</a>.</p>
    <div class="scroll" role="region" aria-label="Table of attributes" tabindex="0"><table class="attributes">
      <thead><tr><th>attribute</th><th>type</th><th>leads to</th><th>rules</th></tr></thead>
      <tbody>${rows.map(
        ([name, attribute]) =>
          html`<tr key=${name}><th scope="row">${name}</th><td>${typeText(attribute)}</td><td class="wrap">${targetOf(attribute)}</td><td class="wrap">${rulesOf(type, attribute)}</td></tr>`,
      )}</tbody>
    </table></div>
  </section>`;
}

function typeText({ type, relation, repeatable, multiple }: ShownAttribute): string {
  const several = repeatable === true || multiple === true ? ', several' : '';
  if (type === 'dynamiczone') return 'dynamic zone';
  return relation === undefined ? `${type}${several}` : `${type}, ${relation}`;
}

function targetOf({ target, component, components = [] }: ShownAttribute): Content {
  if (target !== undefined) return html`<${Target} uid=${target} />`;
  const uids = component === undefined ? components : [component];
  return uids.map(componentTitle).join(', ');
}

/** Names a content type. Users and files have no entries in this part. */
function Target({ uid }: { readonly uid: string }) {
  const type = types.value.find((each) => each.uid === uid);
  if (type === undefined || type.plugin !== undefined) return html`<code>${uid}</code>`;
  return html`<a href=${linkTo(['content', pathName(type), '_type'])}>${type.schema.displayName}</a>`;
}

function rulesOf(type: Type, attribute: ShownAttribute): string {
  const { regex, isHidden, pluginOptions } = attribute;
  const rules = [
    ...boundsOf(attribute),
    regex !== undefined && `matches ${regex}`,
    attribute.enum !== undefined && `one of ${attribute.enum.join(', ')}`,
    attribute.default !== undefined && `${JSON.stringify(attribute.default)} by default`,
    isLocalized(type) && pluginOptions?.i18n?.localized !== true && 'shared by all locales',
    isHidden && 'no answer has it',
  ];
  return rules.filter(Boolean).join(', ');
}
