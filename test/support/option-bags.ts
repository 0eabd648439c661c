import type { Tree } from './syntax-tree.ts';

const OPTIONS = /(?:Options|Settings|Context)$/;
const MOST_MEMBERS = 12;

type Declared = {
  readonly file: string;
  readonly name: string;
  readonly type: Tree;
  readonly isExported: boolean;
};

/** Returns exported types of options with more than 12 members, those of other types that they include counted. */
export function optionBagsOf(modules: ReadonlyMap<string, Tree>): readonly string[] {
  const declared = [...modules].flatMap(([file, module]) => typesOf(file, module));
  const find = (name: string, file: string) =>
    declared.find((each) => each.name === name && each.file === file) ??
    declared.find((each) => each.name === name && each.isExported);
  const membersOf = (type: Tree, file: string): ReadonlySet<string> => {
    if (type.type === 'TsTypeLiteral') return new Set((type['members'] as readonly Tree[]).map(keyOf));
    if (type.type === 'TsIntersectionType')
      return new Set((type['types'] as readonly Tree[]).flatMap((each) => [...membersOf(each, file)]));
    return type.type === 'TsTypeReference' ? membersOfNamed(type, file) : new Set();
  };
  const membersOfNamed = (type: Tree, file: string): ReadonlySet<string> => {
    const name = (type['typeName'] as Named).value;
    const [of, keys] = ((type['typeParams'] as Tree | null)?.['params'] ?? []) as readonly Tree[];
    if (name === 'Pick' && keys !== undefined) return new Set(textsOf(keys));
    if (name === 'Omit' && of !== undefined && keys !== undefined)
      return membersOf(of, file).difference(new Set(textsOf(keys)));
    const found = find(name, file);
    return found === undefined ? new Set() : membersOf(found.type, found.file);
  };
  return declared
    .filter(({ name, isExported }) => isExported && OPTIONS.test(name))
    .map(({ file, name, type }) => ({ file, name, count: membersOf(type, file).size }))
    .filter(({ count }) => count > MOST_MEMBERS)
    .map(({ file, name, count }) => `${file}: ${name} has ${count} members`);
}

type Named = { readonly value: string };

function typesOf(file: string, { body }: Tree): readonly Declared[] {
  return (body as readonly Tree[]).flatMap((item) => {
    const declaration = (item['declaration'] ?? item) as Tree;
    if (declaration.type !== 'TsTypeAliasDeclaration') return [];
    const { value: name } = declaration['id'] as Named;
    const isExported = item.type === 'ExportDeclaration';
    return [{ file, name, type: declaration['typeAnnotation'] as Tree, isExported }];
  });
}

function keyOf({ key }: Tree): string {
  return (key as Named).value;
}

/** Returns the texts of a literal type, or of a union of them. */
function textsOf(type: Tree): readonly string[] {
  if (type.type === 'TsUnionType') return (type['types'] as readonly Tree[]).flatMap(textsOf);
  const literal = type['literal'] as Named | undefined;
  return literal === undefined ? [] : [literal.value];
}
