import { defined } from '../../shared/defined.ts';
import { callResource, type ResourceCall } from '../../shared/resource.ts';
import { importRoles } from '../access/role-commands.ts';
import type { FollowApi } from '../follow/follow-api.ts';
import { linkLeader } from '../http/forwarding/leader-operations.ts';
import type { LeaderLink, OperatorContext } from '../operator/operation.ts';
import type { Releases } from '../releases/open-releases.ts';
import { RELEASE_RESOURCES } from '../releases/release-resources.ts';
import { importAsset } from '../strapi/import-asset.ts';
import type { ComposedApi } from './compose-process.ts';
import type { Opened } from './opened.ts';
import { type OwnBase, type OwnContent, operatorContext } from './own-content.ts';
import type { VarveOptions } from './process-options.ts';
import type { RunningContent } from './run-content.ts';
import { tidyGenerations } from './tidy-generations.ts';

/** Opened parts of a process with a data directory. */
export type OwnParts = {
  readonly base: OwnBase;
  readonly content: OwnContent;
  readonly running: RunningContent;
};

/** Removes what failed rebuilds have left. */
export function openTidied(options: VarveOptions, { base, running }: OwnParts, opened: Opened): Tidied {
  const { generations } = base.store;
  const {
    data: { data },
    readSide: plan,
    fleet: { fleetLog },
  } = options;
  const { fleet } = running;
  const tidied = tidyGenerations({ data, plan, generations, fleet, ...fleetLog.tidied });
  opened({ close: tidied.stop });
  return tidied;
}

/** Returns the way to the leader, if all processes of the log read one index. */
export function linkOf(
  { base }: OwnParts,
  { forwarding }: ComposedApi,
  opened: Opened,
): LeaderLink | undefined {
  return base.store.generations.hasIndicesOutside ? opened(linkLeader(forwarding)) : undefined;
}

export type Tidied = ReturnType<typeof tidyGenerations>;

/** Parts that operators' requests use. */
type OperatedParts = {
  readonly follow: FollowApi | undefined;
  readonly tidied: Tidied;
  readonly leader: LeaderLink | undefined;
  readonly releases: Pick<Releases, 'served'> | undefined;
};

/** Context of operators' requests to a process that can write. */
export function ownOperator(
  options: VarveOptions,
  { base, content, running }: OwnParts,
  { follow, tidied, leader, releases }: OperatedParts,
): OperatorContext {
  const { log } = base.store;
  const { library, assets, imports, halt } = running;
  return {
    ...operatorContext(options, base.store, content.readSide),
    unreadable: halt.event,
    workers: options.worker.otherWorkers,
    imports: {
      registry: content.registry,
      defaultLocale: options.content.defaultLocale,
      writer: imports,
      addFormats: library.addFormats,
      defineRoles: importRoles({ log, space: options.data.space }),
      takeAsset: (file) => importAsset(assets, file, library.keepNamed),
    },
    rebuilds: tidied,
    leader,
    ...defined({ follow: follow?.status }),
    ...(releases === undefined
      ? {}
      : { releases: (call: ResourceCall) => callResource(RELEASE_RESOURCES, releases.served, call) }),
  };
}
