package simulator

// generationSize is how many references one generation of the memory holds: about 3 MB.
const generationSize = 25_000

// memory remembers between one and two generations of references.
type memory struct {
	size       int
	young, old map[key]record
}

func newMemory(size int) *memory {
	return &memory{size: size, young: map[key]record{}, old: map[key]record{}}
}

func (m *memory) clear() {
	clear(m.young)
	clear(m.old)
}

func (m *memory) get(k key) (record, bool) {
	if r, ok := m.young[k]; ok {
		return r, true
	}
	r, ok := m.old[k]
	return r, ok
}

// apply records e. An approved void also marks the request that it names as voided.
func (m *memory) apply(e effect) {
	own, _ := m.get(e.id.key())
	e.record.voided = own.voided && e.record.verdict != approved // a late approved request, which no void stopped
	m.put(e.id.key(), e.record)
	if !e.voids() {
		return
	}
	k := digest(e.authorization).key()
	voided, _ := m.get(k)
	voided.voided = true
	m.put(k, voided)
}

func (m *memory) put(k key, r record) {
	if len(m.young) >= m.size {
		m.young, m.old = m.old, m.young
		clear(m.young)
	}
	m.young[k] = r
}

// voids reports whether e is an approved void of the request that it names.
func (e effect) voids() bool {
	return e.record.kind == void && e.record.verdict == approved && e.authorization != ""
}
