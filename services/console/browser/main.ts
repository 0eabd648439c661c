import { untracked, useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import { Frame, shownParts } from './frame.ts';
import { html } from './html.ts';
import { follow } from './live.ts';
import { Loaded } from './loaded.ts';
import { Overview } from './overview.ts';
import { route } from './route.ts';
import { findRights, rights } from './session.ts';
import { SignIn } from './sign-in.ts';

function Console() {
  useSignalEffect(() => (rights.value === 'full' ? untracked(follow) : undefined));
  const { part } = route.value;
  if (rights.value === 'asking')
    return html`<main class="sign-in"><p class="quiet" role="status">Asking the server…</p></main>`;
  if (rights.value === 'none' || part === 'sign-in') return html`<${SignIn} />`;
  const shown = shownParts();
  const found = shown.find(({ name }) => name === part) ?? (part === 'overview' ? shown[0] : undefined);
  document.title = found === undefined ? 'Varve' : `${found.title} · Varve`;
  return html`<${Frame}>${found === undefined ? html`<${Missing} />` : html`<${Part} name=${found.name} />`}<//>`;
}

function Part({ name }: { readonly name: string }) {
  return name === 'overview' ? html`<${Overview} />` : html`<${Loaded} name=${name} />`;
}

function Missing() {
  return html`<section class="card empty">
    <h1>There is no such part</h1>
    <p>The address names a part that the console does not have, or that your token may not see.</p>
  </section>`;
}

void findRights();
const root = document.querySelector('#console');
if (root !== null) render(html`<${Console} />`, root);
