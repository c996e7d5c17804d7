/** File descriptor of the pipe that closes when the process that started n8n is gone. */
export const orphanGuardDescriptor = 3;

/** Time that n8n may take to finish running executions and close its database. */
export const shutdownMilliseconds = 15_000;
