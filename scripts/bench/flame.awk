# SPDX-License-Identifier: GPL-2.0
#
# Draws folded stacks as a flame graph: each function is as wide as the samples that
# it was seen in, and stands on the one that called it. Colours are layers.
#
#	sort FOLDED | awk -v title=TEXT -f layer.awk -f flame.awk

function escape(text)
{
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	gsub(/"/, "\\&quot;", text)
	return text
}

# Ends what is open above that level. A layer is that of the function itself, or of
# its caller.
function close_above(level)
{
	for (; open > level; open--) {
		rects++
		at_level[rects] = open
		from[rects] = start[open]
		till[rects] = samples
		called[rects] = name[open]
		color[rects] = colors[layer[open]]
	}
}

BEGIN {
	colors["device"] = "#c8c8c8"
	colors["transport"] = "#ff8c3c"
	colors["RPC"] = "#8cc878"
	colors["NFS"] = "#82b4e6"
	colors["system"] = "#f0dc8c"
	nlayers = split("device transport RPC NFS system", layers, " ")
	width = 1400
	height = 17
	layer[0] = "system"
}

{
	count = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frames, ";")
	for (same = 0; same < open && same < n; same++)
		if (name[same + 1] != frames[same + 1])
			break
	close_above(same)
	while (open < n) {
		open++
		start[open] = samples
		name[open] = frames[open]
		l = layer_of(frames[open])
		if (l == "verbs")
			l = layer[open - 1] == "device" ? "device" : "transport"
		layer[open] = l == "" ? layer[open - 1] : l
		if (open > deepest)
			deepest = open
	}
	samples += count
	total[layer_of_stack(frames, n)] += count
}

END {
	close_above(0)
	if (!samples)
		exit 1
	top = (deepest + 3) * height
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", \
		width, top + 2 * height
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
	printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"14\">%s</text>\n", \
		width / 2, height, escape(title)
	for (r = 1; r <= rects; r++) {
		w = (till[r] - from[r]) * width / samples
		if (w < 0.4)
			continue
		x = from[r] * width / samples
		y = top - at_level[r] * height
		printf "<g><title>%s: %d samples, %.1f %%</title>", \
			escape(called[r]), till[r] - from[r], \
			(till[r] - from[r]) * 100 / samples
		printf "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" stroke=\"white\" stroke-width=\"0.4\"/>", \
			x, y, w, height - 1, color[r]
		text = substr(called[r], 1, int(w / 6.5))
		if (length(text) > 2)
			printf "<text x=\"%.1f\" y=\"%d\">%s</text>", \
				x + 2, y + height - 5, escape(text)
		print "</g>"
	}
	for (i = 1; i <= nlayers; i++) {
		x = 10 + (i - 1) * 180
		printf "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>", \
			x, top + height - 6, colors[layers[i]]
		printf "<text x=\"%d\" y=\"%d\">%s: %.1f %%</text>\n", \
			x + 17, top + height + 4, layers[i], \
			total[layers[i]] * 100 / samples
	}
	print "</svg>"
}
