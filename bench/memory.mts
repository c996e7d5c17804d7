import { readFile, writeFile } from 'node:fs/promises';

/** Reads a process's resident memory, now and at its highest, in megabytes (Linux). */
export async function memory(pid: number): Promise<{ resident: number; peak: number }> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	const megabytes = (name: string) =>
		Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) / 1024;
	return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** Resets a process's highest memory (Linux, `man 5 proc_pid_clear_refs`). */
export async function resetPeak(pid: number): Promise<void> {
	await writeFile(`/proc/${pid}/clear_refs`, '5');
}
