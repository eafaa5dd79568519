package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// TestWrite: the drawing is XML, and higher values are higher up.
func TestWrite(t *testing.T) {
	var b strings.Builder
	err := Write(&b, []Panel{{"resources/s", []Line{{"a", []Point{{500, 10}, {5000, 20}}}, {"b", []Point{{500, 5}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, &b)
		}
	}
	for _, want := range []string{`points="48.0,120.0 288.0,34.0"`, `points="48.0,163.0"`, ">resources/s<", ">5000<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in\n%s", want, &b)
		}
	}
}

func TestStep(t *testing.T) {
	for most := 0.001; most < 1e6; most *= 1.3 {
		if n := math.Ceil(most / Step(most)); n < 3 || n > 6 {
			t.Errorf("the step for %g is %g: %g of them", most, Step(most), n)
		}
	}
}
