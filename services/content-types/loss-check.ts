import type { TypeEffect } from '../../projections/graph/convert/type-effects.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { problemLine, type SchemaWarning } from '../../shared/schema/schema-problem.ts';

/** Throws a message if content types would drop values that are served, and nobody has accepted that. */
export type RefuseLosses = (effects: readonly TypeEffect[]) => void;

/** A folder of content types, and the losses that its operator accepts. */
export type LossCheckOptions = {
  readonly folder: string;
  readonly fileOf: ReadonlyMap<Uid, string>;
  readonly warnings: readonly SchemaWarning[];
  /** Names of effects. */
  readonly accepted: readonly string[];
};

/** Creates the check of a folder. Its message names each attribute, its file, the number of entries, and what to do. */
export function createLossCheck(options: LossCheckOptions): RefuseLosses {
  const accepted = new Set(options.accepted);
  return (effects) => {
    const losses = effects.filter(({ outcome, name }) => outcome === 'lost' && !accepted.has(name));
    if (losses.length === 0) return;
    const lines = losses.map((loss) => `  ${lossLine(loss, options)}`);
    const pass = losses.map(({ name }) => `--accept-loss ${name}`).join(' ');
    throw new Error(
      `the content types in ${options.folder} would drop values that are served\n${lines.join('\n')}\nCorrect the files, or pass ${pass}`,
    );
  };
}

/** Returns a line such as `api::tag.tag.name, 12 entries: api/tag/…/schema.json $.attributes.name.type: …`. */
function lossLine(loss: TypeEffect, { fileOf, warnings }: Pick<LossCheckOptions, 'fileOf' | 'warnings'>) {
  const { name, entries } = loss;
  return `${name}, ${entries} ${entries === 1 ? 'entry' : 'entries'}: ${reasonOf(loss, fileOf, warnings)}`;
}

function reasonOf(
  { model, attribute }: TypeEffect,
  fileOf: ReadonlyMap<Uid, string>,
  warnings: readonly SchemaWarning[],
): string {
  const file = fileOf.get(model) ?? 'no file';
  const warning = warnings.find((each) => each.file === file && isAt(each.path, attribute));
  if (warning !== undefined) return problemLine(warning);
  if (attribute === 'locale') return `${file} has no locales any more (pluginOptions.i18n.localized)`;
  if (attribute === 'publishedAt') return `${file} has no drafts any more (options.draftAndPublish)`;
  return `${file} has no such attribute, or it has another type`;
}

function isAt(path: string, attribute: string): boolean {
  return [`$.attributes.${attribute}`, `$.attributes['${attribute}']`].some(
    (base) => path === base || path.startsWith(`${base}.`) || path.startsWith(`${base}[`),
  );
}
