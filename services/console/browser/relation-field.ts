import { useEffect, useState } from 'preact/hooks';
import { send } from './api.ts';
import { isLocalized, pathName, titleName, titleOf } from './content-model.ts';
import type { Row } from './entry-request.ts';
import { describedBy, type FieldProps, Group } from './field-parts.ts';
import { isList, type Linked } from './form-values.ts';
import { shorten } from './format.ts';
import { html } from './html.ts';
import { Moves, moved } from './list-moves.ts';
import { linkTo } from './route.ts';
import type { Type } from './server.ts';
import { types } from './session.ts';

const MOST_FOUND = 8;
/** Milliseconds after the last key until a search is sent. */
const PAUSE_MS = 200;

/** Entries that an attribute links, with a search box for others. */
export function RelationField(props: FieldProps<readonly Linked[]>) {
  const { attribute, value, change } = props;
  const target = types.value.find(({ uid }) => uid === attribute.target);
  const many = isList(attribute);
  const add = (row: Row) => {
    const link = { documentId: String(row['documentId']), row };
    change(many ? [...value.filter(({ documentId }) => documentId !== link.documentId), link] : [link]);
  };
  return html`<${Group} props=${props}>
    ${
      value.length > 0 &&
      html`<ul class="linked">${value.map(
        (link, at) => html`<li key=${link.documentId}><${Target} type=${target} link=${link} />
      <${Moves} label=${nameOf(target, link)} at=${at} length=${value.length} move=${(to: number) => change(moved(value, at, to))} remove=${() => change(value.toSpliced(at, 1))} /></li>`,
      )}</ul>`
    }
    ${target === undefined ? html`<p class="quiet">You may not search these entries.</p>` : html`<${Search} props=${props} target=${target} add=${add} />`}
  <//>`;
}

function nameOf(target: Type | undefined, { documentId, row }: Linked): string {
  return target === undefined ? documentId : shorten(titleOf(target, row), 60);
}

function Target({ type, link }: { readonly type: Type | undefined; readonly link: Linked }) {
  if (type === undefined || type.plugin !== undefined) return html`<span>${nameOf(type, link)}</span>`;
  const locale = link.row['locale'];
  return html`<a href=${linkTo(['content', pathName(type), link.documentId], { locale: typeof locale === 'string' ? locale : undefined })}>${nameOf(type, link)}</a>`;
}

type SearchProps = {
  readonly props: FieldProps<readonly Linked[]>;
  readonly target: Type;
  readonly add: (row: Row) => void;
};

function Search({ props: { path, errors, value, locale, name }, target, add }: SearchProps) {
  const [text, setText] = useState<string>();
  const [found, setFound] = useState<readonly Row[]>();
  useEffect(() => {
    if (text === undefined) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      findEntries(target, text, locale, gone.signal).then(setFound, () => {});
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [text]);
  const shown = found?.filter((row) => !value.some(({ documentId }) => documentId === row['documentId']));
  const close = () => {
    setText(undefined);
    setFound(undefined);
  };
  const choose = (row: Row) => {
    add(row);
    close();
    document.getElementById(describedBy(path, errors).id)?.querySelector('input')?.focus();
  };
  return html`<div class="search" onKeyDown=${(event: KeyboardEvent) => event.key === 'Escape' && close()}>
    <input type="search" aria-label=${`Search ${target.schema.displayName} for ${name}`} placeholder="Search to add" autocomplete="off" value=${text ?? ''}
      onFocus=${() => text === undefined && setText('')} onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)}
      onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && event.preventDefault()} />
    ${
      shown !== undefined &&
      html`<p class="hidden" role="status">${shown.length} found</p>
    <ul class="found">${shown.length === 0 && html`<li class="empty">No other entry matches.</li>`}
      ${shown.map((row) => html`<li key=${row['documentId']}><button type="button" class="plain" onClick=${() => choose(row)}>Add ${shorten(titleOf(target, row), 60)}</button></li>`)}</ul>`
    }
  </div>`;
}

/** Finds entries that a link may lead to, those of drafts too if the caller may see them. */
export async function findEntries(
  target: Type,
  text: string,
  locale: string | null,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const path = target.plugin === undefined ? pathName(target) : target.schema.pluralName;
  const name = titleName(target);
  const query = [
    ...(target.plugin === undefined ? [`pagination[pageSize]=${MOST_FOUND}`] : [`limit=${MOST_FOUND}`]),
    ...(name === undefined ? [] : [`fields[0]=${name}`]),
    ...(isLocalized(target) && locale !== null ? [`locale=${encodeURIComponent(locale)}`] : []),
    ...(text === '' ? [] : [textQuery(target, name, text)]),
  ].join('&');
  const drafts = target.schema.draftAndPublish && target.plugin === undefined ? '&status=draft' : '';
  const first = await send({ method: 'GET', path: `/api/${path}?${query}${drafts}` }, signal);
  const answer =
    first.ok || drafts === '' ? first : await send({ method: 'GET', path: `/api/${path}?${query}` }, signal);
  const { data } = (answer.json ?? {}) as { readonly data?: readonly Row[] };
  return Array.isArray(answer.json) ? answer.json : (data ?? []);
}

function textQuery({ plugin }: Type, name: string | undefined, text: string): string {
  return plugin === undefined || name === undefined
    ? `_q=${encodeURIComponent(text)}`
    : `filters[${name}][$containsi]=${encodeURIComponent(text)}`;
}
