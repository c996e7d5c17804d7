import type { Operation } from '../../run/call';
import { readOptions, resumeId } from '../fields';

export const download: Operation = {
	value: 'download',
	name: 'Download',
	action: 'Download a resume',
	description: 'Download one resume as a file. Changes nothing.',
	method: 'GET',
	path: '/resume/:resumeID/download',
	answer: 'file',
	fields: [
		...resumeId,
		{
			displayName: 'Put Output File in Field',
			name: 'binaryPropertyName',
			type: 'string',
			default: 'data',
			required: true,
			placeholder: 'e.g. data',
			hint: 'The name of the output binary field to put the file in',
		},
		readOptions(
			{
				displayName: 'File Name',
				name: 'fileName',
				type: 'string',
				default: '',
				placeholder: 'e.g. resume.pdf',
				description: 'The name to give the file, in place of the one that the service sends',
			},
			{
				displayName: 'File Path',
				name: 'filePath',
				type: 'string',
				default: '',
				placeholder: 'e.g. data.file.url',
				description:
					"Where an answer in JSON holds the file's link, its content in base64, or its text. Leave it empty to find it under a usual name.",
			},
		),
	],
};
