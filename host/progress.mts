/** Runs a step that takes some time, under a title. It shows how far it is, if the step can tell. */
export type Report = <Result>(
	title: string,
	work: () => Promise<Result>,
	howFar?: () => string,
) => Promise<Result>;

export const quietly: Report = async (_title, work) => await work();

/**
 * Writes each step with its elapsed seconds. A terminal rewrites the line each second. A file gets a line at start and end,
 * and every ten seconds if the step can tell how far it is.
 */
export function reportTo(stream: NodeJS.WriteStream): Report {
	return async (title, work, howFar) => {
		const started = Date.now();
		const write = (mark: string, end = '\n', far = '') => {
			const seconds = Math.round((Date.now() - started) / 1_000);
			const line = `${mark} ${title}${far && `: ${far}`} (${seconds} s)${end}`;
			stream.write((stream.isTTY ? '\r\u001b[2K' : '') + line);
		};
		const end = stream.isTTY ? '' : '\n';
		write('…', end);
		const tick = () => (stream.isTTY || howFar) && write('…', end, howFar?.());
		const timer = setInterval(tick, stream.isTTY ? 1_000 : 10_000);
		try {
			const result = await work();
			write('✓');
			return result;
		} catch (error) {
			write('✗');
			throw error;
		} finally {
			clearInterval(timer);
		}
	};
}
