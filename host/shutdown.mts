/** File descriptor of the pipe by which n8n notices that the process that started it is gone. */
export const orphanGuardDescriptor = 3;

/** How long n8n may take to finish running executions and close its database. */
export const shutdownMilliseconds = 15_000;
