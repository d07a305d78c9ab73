// Every binding. Each worker is given its own slice, so that it sees only what it uses.

/** What sessions need. */
export interface AgentEnv {
  FILES: R2Bucket;
  SESSION: DurableObjectNamespace;
  ACCOUNT: DurableObjectNamespace;
  MEMDIR: DurableObjectNamespace;
  WORK: Queue;
}

/** What memory and files for everybody else need. */
export interface SyncEnv {
  FILES: R2Bucket;
  MEMDIR: DurableObjectNamespace;
  ACCOUNT: DurableObjectNamespace;
  WORK: Queue;
}

/** What the platform hands to the script; only the merge sees all of it. */
export interface Env extends AgentEnv, SyncEnv {
  ASSETS: Fetcher;
}
