# What every chart begins with: no decoration but what the chart's own script adds. Numbers come in data blocks; texts are
# placeholders that keylab fills in. Colours are marks that become the page's colours.
reset session
set encoding utf8
set decimalsign "."
set datafile missing "NaN"
unset key
unset title
unset border
unset xtics
unset ytics
set style fill solid 1.0 noborder
