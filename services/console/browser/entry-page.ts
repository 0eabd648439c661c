import { useEffect, useState } from 'preact/hooks';
import { send } from './api.ts';
import { callerRights, isLocalized, mayDo, pathName } from './content-model.ts';
import { EntryCard } from './entry.ts';
import { EntryForm } from './entry-form.ts';
import type { EntryPlace } from './entry-request.ts';
import { EntryHistory } from './history.ts';
import { html } from './html.ts';
import { change, linkTo, route } from './route.ts';
import type { Type } from './server.ts';

type PageProps = { readonly type: Type; readonly documentId: string | undefined; readonly mode: string };

/** An entry: its values, or its form. */
export function EntryPage({ type, documentId, mode }: PageProps) {
  const place: EntryPlace = {
    type,
    documentId,
    locale: isLocalized(type) ? route.value.query.get('locale') : null,
  };
  const key = `${documentId} ${place.locale} ${mode}`;
  return html`<section class="card entry">
    <div class="row spread"><p class="quiet"><a href=${linkTo(['content', pathName(type)])}>${type.schema.displayName}</a> / <code>${nameOf(place)}</code>${type.schema.kind === 'singleType' && html` / <a href=${linkTo(['content', pathName(type), '_type'])}>Attributes</a>`}</p>
      <${Locales} place=${place} /></div>
    <${Tabs} place=${place} mode=${mode} />
<${Mode} key=${key} place=${place} mode=${mode} />
  </section>`;
}

function Mode({ place, mode }: { readonly place: EntryPlace; readonly mode: string }) {
  const isNew = nameOf(place) === 'new';
  if (mode === 'history') return html`<${EntryHistory} place=${place} />`;
  if (mode !== 'edit') return html`<${EntryCard} place=${place} />`;
  return html`<h1>${isNew ? `New ${place.type.schema.displayName}` : 'Edit'}</h1><${EntryForm} place=${place} />`;
}

function nameOf({ type, documentId }: EntryPlace): string {
  return documentId ?? (type.schema.kind === 'singleType' ? 'single' : 'new');
}

function Tabs({ place, mode }: { readonly place: EntryPlace; readonly mode: string }) {
  const { type, documentId, locale } = place;
  if (documentId === undefined && type.schema.kind === 'collectionType') return null;
  const tabs = [
    ['values', 'Values'],
    ...(mayDo(type, 'update') ? [['edit', 'Edit']] : []),
    ...(callerRights.value?.history === true ? [['history', 'History']] : []),
  ] as const;
  const linkOf = (name: string) =>
    linkTo(
      [
        'content',
        pathName(type),
        ...(documentId === undefined ? [] : [documentId]),
        ...(name === 'values' ? [] : [name]),
      ],
      { locale: locale ?? undefined },
    );
  return html`<nav class="tabs" aria-label="Entry">${tabs.map(
    ([name, title]) =>
      html`<a href=${linkOf(name ?? '')} aria-current=${mode === name ? 'page' : undefined}>${title}</a>`,
  )}</nav>`;
}

/** Chooses a locale. A locale that the entry does not have yet is written with the form. */
function Locales({ place: { type, locale } }: { readonly place: EntryPlace }) {
  const [codes, setCodes] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!isLocalized(type)) return;
    send({ method: 'GET', path: '/api/i18n/locales' }).then(
      ({ json }) => setCodes(Array.isArray(json) ? json.map(({ code }: { code: string }) => code) : []),
      () => {},
    );
  }, []);
  if (!isLocalized(type)) return null;
  return html`<label class="row">Locale <input list="locales" size="8" placeholder="default" key=${locale} defaultValue=${locale ?? ''}
      onChange=${(event: Event) => change({ locale: (event.target as HTMLInputElement).value.trim() })} />
    <datalist id="locales">${codes.map((code) => html`<option value=${code}></option>`)}</datalist></label>`;
}
