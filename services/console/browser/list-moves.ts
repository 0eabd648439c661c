import { html } from './html.ts';

/** Returns a list with one member at another place. */
export function moved<Item>(list: readonly Item[], from: number, to: number): readonly Item[] {
  const item = list[from];
  return item === undefined || to < 0 || to >= list.length
    ? list
    : list.toSpliced(from, 1).toSpliced(to, 0, item);
}

type MovesProps = {
  /** Words that name the member. */
  readonly label: string;
  readonly at: number;
  readonly length: number;
  readonly move: (to: number) => void;
  readonly remove: () => void;
};

/** Buttons that move a member of a list, or remove it. */
export function Moves({ label, at, length, move, remove }: MovesProps) {
  return html`<span class="moves">
    ${
      length > 1 &&
      html`<button type="button" class="plain" aria-label=${`Move ${label} up`} disabled=${at === 0} onClick=${() => move(at - 1)}>↑</button>
    <button type="button" class="plain" aria-label=${`Move ${label} down`} disabled=${at === length - 1} onClick=${() => move(at + 1)}>↓</button>`
    }
    <button type="button" class="plain" aria-label=${`Remove ${label}`} onClick=${remove}>remove</button>
  </span>`;
}
