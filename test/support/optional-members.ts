import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseTree, type Tree } from './syntax-tree.ts';

/** Types that adapters implement, by file. */
const PORTS: { readonly [file: string]: readonly string[] } = {
  'shared/asset-store/asset-store.ts': ['AssetStore', 'AssetNames', 'StagedAsset'],
  'shared/event-store/event-store.ts': ['EventStore', 'HashChain', 'Subscription'],
  'shared/read-index/document-index.ts': ['DocumentIndex', 'Neighbours'],
  'shared/read-index/read-index.ts': ['ReadIndex', 'LocalRows'],
  'services/read-side/read-side.ts': ['ReadSide', 'DocumentContents', 'ReadSidePlan'],
};

/** Optional members of the ports of a checkout, each as `Port.member`. */
export function optionalPortMembers(folder: string): readonly string[] {
  return Object.entries(PORTS).flatMap(([file, ports]) => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    return ports.flatMap((port) => optionalMembersOf(text, port));
  });
}

/** Optional members that the declaration of a type writes out. Throws if the text does not declare the type. */
export function optionalMembersOf(text: string, name: string): readonly string[] {
  const declared = (parseTree(text)['body'] as readonly Tree[])
    .map((item) => (item['declaration'] ?? item) as Tree)
    .find(({ type, id }) => type === 'TsTypeAliasDeclaration' && (id as Named).value === name);
  if (declared === undefined) throw new Error(`there is no type ${name}`);
  return membersOf(declared['typeAnnotation'] as Tree)
    .filter(({ optional }) => optional === true)
    .map(({ key }) => `${name}.${(key as Named).value}`);
}

type Named = { readonly value: string };

function membersOf({ type, members, types }: Tree): readonly Tree[] {
  if (type === 'TsIntersectionType') return (types as readonly Tree[]).flatMap(membersOf);
  return type === 'TsTypeLiteral' ? (members as readonly Tree[]) : [];
}
