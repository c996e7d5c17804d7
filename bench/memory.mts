import { readFile, writeFile } from 'node:fs/promises';

/** A process's resident memory now and at its highest, in megabytes, as Linux counts it. */
export async function memory(pid: number): Promise<{ resident: number; peak: number }> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	const megabytes = (name: string) =>
		Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) / 1024;
	return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** Seconds of processor time that a process has used, as Linux counts it: `man 5 proc_pid_stat`. */
export async function processorSeconds(pid: number): Promise<number> {
	const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
	const [user, system] = stat
		.slice(stat.lastIndexOf(')') + 2)
		.split(' ')
		.slice(11, 13);
	const ticksASecond = 100;
	return (Number(user) + Number(system)) / ticksASecond;
}

/** Lets Linux count a process's highest memory from now on: `man 5 proc_pid_clear_refs`. */
export async function resetPeak(pid: number): Promise<void> {
	await writeFile(`/proc/${pid}/clear_refs`, '5');
}
