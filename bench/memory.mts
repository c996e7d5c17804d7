import { readFile, writeFile } from 'node:fs/promises';

/** Reads a process's resident memory, now and at its highest, in megabytes (Linux). */
export async function memory(pid: number): Promise<{ resident: number; peak: number }> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	const megabytes = (name: string) =>
		Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) / 1024;
	return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** Reads the seconds of processor time that a process has used (Linux, `man 5 proc_pid_stat`). */
export async function processorSeconds(pid: number): Promise<number> {
	const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
	const [user, system] = stat
		.slice(stat.lastIndexOf(')') + 2)
		.split(' ')
		.slice(11, 13);
	const ticksASecond = 100;
	return (Number(user) + Number(system)) / ticksASecond;
}

/** Resets a process's highest memory (Linux, `man 5 proc_pid_clear_refs`). */
export async function resetPeak(pid: number): Promise<void> {
	await writeFile(`/proc/${pid}/clear_refs`, '5');
}
