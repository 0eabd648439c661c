import { defined } from '../../../shared/defined.ts';
import type { EraseAnswer, EraseRequest } from '../../erasure/erase-documents.ts';
import { readErasures } from '../../erasure/erasure-file.ts';
import type { JsonOption } from '../settings/command.ts';
import { InvalidSettings, type OperatorSettings } from '../settings/settings.ts';
import { withOperations } from './operate.ts';

type EraseOptions = JsonOption & {
  readonly where?: string;
  readonly ledger?: string;
  readonly reason?: string;
  readonly confirm?: string;
};

/** `varve erase`: erases documents for good. Without `--confirm` it shows what would be erased, and changes nothing. */
export async function erase(
  settings: OperatorSettings,
  { json, confirm, ...named }: EraseOptions,
  words: readonly string[],
): Promise<void> {
  const request = { ...requestOf(named, words), ...defined({ confirm: countOf(confirm) }) };
  const [answer] = await withOperations(settings, (operations) =>
    Array.fromAsync(operations.run('erase', request)),
  );
  if (answer === undefined)
    throw new Error('the server has not answered: look with varve status, and repeat the command');
  if (json === true) console.log(JSON.stringify(answer, null, 2));
  else for (const line of present(answer)) console.log(line);
}

function requestOf(
  { where, reason, ledger }: Omit<EraseOptions, 'json' | 'confirm'>,
  [type, documentId, ...others]: readonly string[],
): Omit<EraseRequest, 'confirm'> {
  if (ledger !== undefined && type === undefined && where === undefined && reason === undefined)
    return { ledger: [...readErasures(ledger)] };
  const isComplete = type !== undefined && (documentId === undefined) !== (where === undefined);
  if (isComplete && ledger === undefined && others.length === 0)
    return { type, ...defined({ documentId, where, reason }) };
  throw new InvalidSettings(
    "name a content type, and a documentId or --where, as in varve erase api::tag.tag abc or varve erase api::review.review --where 'filters[email]=ada@example.org'; or --ledger with a file, and neither of them nor --reason",
  );
}

function countOf(confirm: string | undefined): number | undefined {
  if (confirm === undefined) return undefined;
  if (/^\d{1,9}$/.test(confirm)) return Number(confirm);
  throw new InvalidSettings(`--confirm must be the number of documents, got "${confirm}"`);
}

function present({ erased, documents, count }: EraseAnswer): readonly string[] {
  const lines = documents.map(({ type, documentId, events }) => {
    const history = events === 1 ? '1 event' : `${events} events`;
    return `${type} ${documentId}: ${history} ${erased ? 'erased' : 'with content'}`;
  });
  if (count === 0) return ['nothing that the file names exists again'];
  if (erased) return lines;
  const documentsText = count === 1 ? '1 document' : `${count} documents`;
  return [
    ...lines,
    `Nothing is erased yet. To erase ${documentsText} for good, repeat the command with --confirm ${count}`,
  ];
}
