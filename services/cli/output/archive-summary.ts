import type { ArchiveSummary } from '../../strapi/import-archive.ts';

/** Returns the report of an import of an archive: what was stored, and what differs from the archive. */
export function presentSummary(summary: ArchiveSummary, seconds: number, dryRun: boolean): string {
  const { strapi, documents, known, lines, notes, losingDrafts, refused, mismatches } = summary;
  const before = known === 0 ? '' : `, ${known} of them by an earlier import`;
  const done = dryRun ? 'would be imported; nothing was written' : `were imported${before}`;
  return [
    `${documents} documents of Strapi ${strapi ?? '(unknown)'} ${done}: ${lines} lines in ${seconds.toFixed(1)} s, ${Math.round(lines / seconds)} a second`,
    ...list('Rows', countLines(summary)),
    ...list(
      'Differences from the archive',
      notes.map(
        ({ what, reason, count, example }) =>
          `${what}: ${reason} (${count}${example === undefined ? '' : `, first ${example}`})`,
      ),
    ),
    ...list(
      'Rights of roles, in the form of --public RIGHTS and varve token create --allow RIGHTS',
      Object.entries(summary.roles).map(([role, rights]) => `${role}: ${rights.join(',')}`),
    ),
    ...list(
      'Roles that see drafts in Strapi, but not in Varve unless --role-drafts names them',
      losingDrafts,
    ),
    ...list('Refused', refused),
    ...list('Not as the archive says', mismatches),
  ].join('\n');
}

function list(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [title, ...items.map((item) => `  ${item}`)];
}

/** Types that belong to Strapi alone are among the differences. */
function countLines({ rows, links, assets }: ArchiveSummary): readonly string[] {
  const types = Object.entries(rows)
    .filter(([, { stored, omitted }]) => stored > 0 || Object.keys(omitted).length === 0)
    .map(([type, { read, stored }]) => `${type}: ${ofThem(stored, read)}`);
  return [
    ...types,
    ...(links.read === 0 ? [] : [`links: ${ofThem(links.stored, links.read)}`]),
    ...(assets === 0 ? [] : [`files, with smaller pictures: ${assets}`]),
  ];
}

function ofThem(stored: number, read: number): string {
  return stored === read ? String(stored) : `${stored} of ${read}`;
}
