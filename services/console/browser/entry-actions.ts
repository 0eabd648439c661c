import { useState } from 'preact/hooks';
import { isTyped } from './action.ts';
import type { Request } from './api.ts';
import { callerRights, isLocalized, mayDo, pathName } from './content-model.ts';
import { Dialog } from './dialog.ts';
import { type EntryPlace, entryPath, rowQuery, write } from './entry-request.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { linkTo } from './route.ts';

/** Which versions of an entry there are. */
export type EntryState = {
  readonly hasDraft: boolean;
  readonly isPublished: boolean;
  readonly isModified: boolean;
};

type ActionsProps = {
  readonly place: EntryPlace;
  readonly title: string;
  readonly state: EntryState;
  /** Reads the entry again. */
  readonly done: () => void;
};

type Action = { readonly words: string; readonly request: Request };

/** Publishes, unpublishes, discards and deletes an entry, as far as the caller may. */
export function EntryActions({ place, title, state, done }: ActionsProps) {
  const [shown, setShown] = useState<Request>();
  const [problem, setProblem] = useState('');
  const [isDeleting, setDeleting] = useState(false);
  const run = async ({ request }: Action) => {
    setShown(request);
    const result = await write(request);
    setProblem('refusal' in result ? result.refusal.message : '');
    if (!('refusal' in result)) done();
  };
  const actions = actionsOf(place, state);
  const mayDelete = mayDo(place.type, 'delete');
  if (actions.length === 0 && !mayDelete) return null;
  return html`<div class="row actions">
    ${actions.map((action) => html`<button type="button" onClick=${() => void run(action)}>${action.words}</button>`)}
    ${mayDelete && html`<button type="button" class="danger" onClick=${() => setDeleting(true)}>Delete</button>`}
    ${problem !== '' && html`<span class="bad" role="alert">${problem}</span>`}
    ${isDeleting && html`<${DeleteDialog} place=${place} title=${title} close=${() => setDeleting(false)} />`}
  </div>
  ${shown !== undefined && html`<${HowToSend} request=${shown} />`}`;
}

function actionsOf(place: EntryPlace, { isPublished, isModified }: EntryState): readonly Action[] {
  const { type } = place;
  if (!type.schema.draftAndPublish || callerRights.value?.drafts !== true) return [];
  const act = (name: string, words: string): Action => ({
    words,
    request: { method: 'POST', path: entryPath(place, `/actions/${name}`, rowQuery(place)) },
  });
  const whole: Action = {
    words: 'Publish',
    request: { method: 'PUT', path: entryPath(place, '', rowQuery(place)), body: { data: {} } },
  };
  const isOpen = !isPublished || isModified;
  // A single type has no actions: a write without `status` publishes its draft.
  if (type.schema.kind === 'singleType') return isOpen && mayDo(type, 'update') ? [whole] : [];
  return [
    ...(isOpen && mayDo(type, 'publish') ? [act('publish', 'Publish')] : []),
    ...(isPublished && mayDo(type, 'unpublish') ? [act('unpublish', 'Unpublish')] : []),
    ...(isModified && isPublished && mayDo(type, 'discardDraft')
      ? [act('discard-draft', 'Discard changes')]
      : []),
  ];
}

type DeleteProps = { readonly place: EntryPlace; readonly title: string; readonly close: () => void };

function DeleteDialog({ place, title, close }: DeleteProps) {
  const [typed, setTyped] = useState('');
  const [everywhere, setEverywhere] = useState(false);
  const [problem, setProblem] = useState('');
  const locale = everywhere ? '*' : place.locale;
  const request = { method: 'DELETE', path: entryPath(place, '', rowQuery({ ...place, locale })) };
  const remove = async (event: Event) => {
    event.preventDefault();
    if (!isTyped(title, typed)) return;
    const result = await write(request);
    if ('refusal' in result) setProblem(result.refusal.message);
    else location.hash = linkTo(['content', pathName(place.type)]);
  };
  return html`<${Dialog} title="Delete this entry" close=${close}>
    <form onSubmit=${remove}>
      <p>The draft and the published version are deleted. The history keeps them, and can restore them.</p>
      ${
        isLocalized(place.type) &&
        html`<p class="row"><label><input type="checkbox" checked=${everywhere} onChange=${() => setEverywhere(!everywhere)} /> in all locales</label></p>`
      }
      <div class="field"><label for="confirm">Type its name: <strong class="whole">${title}</strong></label>
        <input id="confirm" autocomplete="off" value=${typed} onInput=${(event: Event) => setTyped((event.target as HTMLInputElement).value)} /></div>
      <p class="row"><button type="submit" class="danger" disabled=${!isTyped(title, typed)}>Delete</button></p>
      ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
      <${HowToSend} request=${request} />
    </form>
  <//>`;
}
