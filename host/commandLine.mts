import { parseArgs, type ParseArgsConfig } from 'node:util';
import { Trouble } from './trouble.mts';

/**
 * Reads the options of a command.
 *
 * @throws {Trouble} with the command's help if an option is unknown or has no value
 */
export function readOptions<Options extends NonNullable<ParseArgsConfig['options']>>(
	options: Options,
	help: string,
) {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		throw new Trouble(`${(error as Error).message}\n\n${help}`);
	}
}

/** @throws {Trouble} if the text of an option is no whole number within the bounds */
export function readNumber(option: string, text: string, least: number, most: number): number {
	const number = Number(text);
	if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
	throw new Trouble(`--${option} takes a number from ${least} to ${most}, not "${text}".`);
}
