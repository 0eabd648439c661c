import { connection, token } from './api.ts';
import { formatCount } from './format.ts';
import { type Content, html } from './html.ts';
import { state } from './live.ts';
import { linkTo, route } from './route.ts';
import { isOpen, leave, rights } from './session.ts';

type Part = { readonly name: string; readonly title: string; readonly needs: 'full' | 'content' };

/** In the order of the bar. */
const PARTS: readonly Part[] = [
  { name: 'overview', title: 'Overview', needs: 'full' },
  { name: 'content', title: 'Content', needs: 'content' },
  { name: 'query', title: 'Query', needs: 'content' },
  { name: 'projections', title: 'Projections', needs: 'full' },
  { name: 'log', title: 'Log', needs: 'full' },
  { name: 'releases', title: 'Releases', needs: 'full' },
  { name: 'erasures', title: 'Erasures', needs: 'full' },
  { name: 'delivery', title: 'Delivery', needs: 'full' },
  { name: 'backup', title: 'Backup', needs: 'full' },
  { name: 'access', title: 'Access', needs: 'full' },
  { name: 'settings', title: 'Settings', needs: 'full' },
];

/** Returns the parts that the caller may see. */
export function shownParts(): readonly Part[] {
  return PARTS.filter(({ needs }) => needs === rights.value || rights.value === 'full');
}

/** The bar, and the part that the URL names. */
export function Frame({ children }: { readonly children?: Content }) {
  return html`<a class="skip" href="#content" onClick=${skip}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href=${linkTo(['overview'])}>Varve</a>
      <nav aria-label="Parts">
        ${shownParts().map(
          ({ name, title }) =>
            html`<a href=${linkTo([name])} aria-current=${route.value.part === name ? 'page' : undefined}>${title}</a>`,
        )}
      </nav>
      <${Status} />
    </header>
    <main id="content" tabindex="-1">${children}</main>`;
}

/** A link to `#content` would replace the state in the URL. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#content')?.focus();
}

const LIGHTS = { connecting: 'connecting', live: 'live', lost: 'not connected' } as const;

function Status() {
  const { space, log } = state.value ?? {};
  return html`<div class="status">
    ${space !== undefined && html`<span class="wide">space ${space}</span>`}
    ${log !== undefined && html`<span class="wide">position ${formatCount(log.position)}</span>`}
    <span class=${`light ${connection.value}`} role="status">${LIGHTS[connection.value]}</span>
    ${token.value !== null && html`<button type="button" class="plain" onClick=${() => void leave()}>Sign out</button>`}
    ${token.value === null && !isOpen.value && html`<a href=${linkTo(['sign-in'])}>Sign in</a>`}
  </div>`;
}
